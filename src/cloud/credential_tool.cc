#include "cloud/credential_tool.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::size_t kToolOutputBytesMax = 1U << 20U;
constexpr Duration kToolTimeout = std::chrono::seconds(60);

}  // namespace

Result<Secret<std::string>> run_credential_tool(sys::World& world,
                                                const std::vector<std::string>& argv,
                                                const sys::CallContext& ctx) {
  // Only the program's name: its arguments may hold what a sentence must not.
  const std::string name = argv.empty() ? "" : std::string(sys::base_name(argv.front()));
  std::string printed;
  bool too_much = false;
  const sys::Output::Sink take = [&](std::string_view piece) {
    too_much = too_much || printed.size() + piece.size() > kToolOutputBytesMax;
    if (!too_much) printed += piece;
  };
  OUTLAST_TRY_ASSIGN(
      const std::unique_ptr<sys::Process> process,
      world.processes.spawn(
          {.argv = argv, .out = {.target = take}, .err = {.target = sys::Output::Discard{}}}));
  const MonoTime give_up = saturating_add(world.clock.mono_now(), kToolTimeout);
  Result<sys::ExitStatus> status = process->wait(ctx.until(give_up));
  Secret<std::string> output(std::move(printed));
  if (!status) {
    if (status.error().code() == ErrorCode::kDeadlineExceeded && give_up < ctx.deadline) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("'{}' printed no credentials within a minute: run it by hand to see "
                               "what it waits for",
                               name));
    }
    return std::move(status).error();
  }
  if (*status != sys::ExitStatus(sys::Exited{0})) {
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("'{}' {} instead of printing credentials: run it by hand to see why",
                             name, sys::to_string(*status)));
  }
  if (too_much) {
    return Error(ErrorCode::kFailed, fmt::format("'{}' printed more than 1 MiB", name));
  }
  return output;
}

Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    const char next = i + 1 < command.size() ? command[i + 1] : '\0';
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && next != '\0' &&
               (quote == 0 || (quote == '"' && (next == '"' || next == '\\')))) {
      words.back() += next;
      ++i;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return Error(ErrorCode::kInvalidArgument, "the command has an open quote");
  if (words.empty()) return Error(ErrorCode::kInvalidArgument, "the command is empty");
  return words;
}

}  // namespace outlast::cloud
