#include "machine/tool.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::machine {
namespace {

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr std::size_t kTextMax = 16UL << 10U;

std::string last_line_of(std::string_view text) {
  text = ascii_trimmed(text);
  const std::size_t line_end = text.rfind('\n');
  return std::string(line_end == std::string_view::npos ? text : text.substr(line_end + 1));
}

Result<std::unique_ptr<sys::Process>> start(sys::World& world, const std::vector<std::string>& argv,
                                            const sys::Output& output) {
  Result<std::unique_ptr<sys::Process>> process =
      Error(ErrorCode::kNotFound, fmt::format("'{}' is not installed", argv.front()));
  for (const std::string_view folder : {"", "/usr/sbin/", "/sbin/"}) {
    sys::ProcessSpec spec = {.argv = argv, .out = output, .err = output, .dies_with_us = false};
    spec.argv.front().insert(0, folder);
    Result<std::unique_ptr<sys::Process>> tried = world.processes.spawn(std::move(spec));
    if (tried || tried.error().code() != ErrorCode::kNotFound) return tried;
  }
  return process;
}

}  // namespace

Result<void> run_tool(sys::World& world, std::vector<std::string> argv,
                      const sys::CallContext& ctx) {
  std::string text;
  const sys::Output output = {.target = sys::Output::Sink([&text](std::string_view piece) {
                                if (text.size() < kTextMax) text += piece;
                              })};
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::Process> process, start(world, argv, output));
  const std::string line = fmt::format("'{}'", fmt::join(argv, " "));
  const MonoTime deadline = saturating_add(world.clock.mono_now(), kPatience);
  OUTLAST_TRY_ASSIGN(const sys::ExitStatus status,
                     process->wait(ctx.until(deadline)).while_doing(line));
  if (status == sys::ExitStatus(sys::Exited{0})) return {};
  const std::string reason = last_line_of(text);
  return Error(ErrorCode::kFailed, fmt::format("{} {}{}{}", line, sys::to_string(status),
                                               reason.empty() ? "" : ": ", reason));
}

bool may_be_root(sys::World& world) {
  constexpr std::uint64_t kStatusMax = 1U << 20U;
  constexpr std::string_view kBegin = "\nUid:\t";
  const Result<std::string> status = sys::read_file(world.files, "/proc/self/status", kStatusMax);
  if (!status) return true;
  // "Uid:\t<real>\t<effective>\t…"
  const std::size_t found = status->find(kBegin);
  if (found == std::string::npos) return true;
  const std::size_t effective = status->find('\t', found + kBegin.size());
  return effective == std::string::npos ||
         std::string_view(*status).substr(effective).starts_with("\t0\t");
}

}  // namespace outlast::machine
