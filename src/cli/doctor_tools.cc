#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/doctor.h"
#include "cli/program/text_layout.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

struct Tool {
  std::string_view name;
  std::string_view what_it_does;
};

// No command of ours starts any of these yet: the doctor only says where they are.
constexpr std::array kTools = {
    Tool{"git", "keeps versions of source code"},
    Tool{"ssh", "logs in to other machines"},
    Tool{"sbatch", "submits to a Slurm cluster"},
    Tool{"docker", "runs containers"},
    Tool{"podman", "runs containers"},
    Tool{"kubectl", "talks to a Kubernetes cluster"},
    Tool{"gcloud", "talks to Google Cloud"},
    Tool{"aws", "talks to Amazon Web Services"},
    Tool{"az", "talks to Microsoft Azure"},
};

constexpr Duration kCriuPatience = std::chrono::seconds(5);
constexpr std::size_t kCriuTextMax = 16U << 10U;

bool is_program(sys::World& world, const std::string& path) {
  const Result<sys::FileInfo> info = world.files.stat(path);
  if (!info) return false;
  // A link is a program if it leads to a file that opens: not to nothing, and not to a folder.
  if (info->type == sys::FileType::kSymlink) {
    return world.files.open(path, sys::OpenMode::kRead) && !world.files.list(path);
  }
  return info->type == sys::FileType::kFile && (info->mode & 0111U) != 0;
}

std::optional<std::string> find_in_path(sys::World& world, std::string_view name) {
  const std::string path = world.environment.get("PATH").value_or("");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (folder.empty()) continue;
    std::string candidate = sys::join_path(folder, name);
    if (is_program(world, candidate)) return candidate;
  }
  return std::nullopt;
}

// The last line that says something: where programs put the reason.
std::string last_line(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  const std::size_t end = text.rfind('\n');
  return printable(end == std::string_view::npos ? text : text.substr(end + 1));
}

Finding criu_says(const sys::ExitStatus& status, std::string_view text) {
  if (status == sys::ExitStatus(sys::Exited{0})) {
    return {"criu", Health::kOk, "'criu check' says that processes can be frozen whole here", ""};
  }
  const std::string reason = last_line(text);
  return {"criu", Health::kNote,
          fmt::format("installed, but unusable here: 'criu check' {}{}{}", sys::to_string(status),
                      reason.empty() ? "" : ": ", reason),
          "It needs root or CAP_CHECKPOINT_RESTORE, and a kernel built with CHECKPOINT_RESTORE. No "
          "command needs it yet."};
}

}  // namespace

std::vector<Finding> check_tools(sys::World& world) {
  std::vector<Finding> findings;
  for (const Tool& tool : kTools) {
    if (const auto path = find_in_path(world, tool.name)) {
      findings.push_back({std::string(tool.name), Health::kOk, printable(*path), ""});
    } else {
      findings.push_back(
          {std::string(tool.name), Health::kNote,
           fmt::format("not in PATH ({}; no command needs it yet)", tool.what_it_does), ""});
    }
  }
  return findings;
}

Finding check_criu(sys::World& world, const sys::CallContext& ctx) {
  std::string text;
  const auto collect = [&text](std::string_view piece) {
    if (text.size() < kCriuTextMax) text += piece;
  };
  sys::ProcessSpec spec;
  spec.argv = {"criu", "check"};
  spec.out.target = sys::Output::Sink(collect);
  spec.err.target = sys::Output::Sink(collect);
  Result<std::unique_ptr<sys::Process>> process = world.processes.spawn(std::move(spec));
  if (!process && process.error().code() == ErrorCode::kNotFound) {
    return {"criu", Health::kNote, "not in PATH (freezes whole processes; no command needs it yet)",
            ""};
  }
  if (!process) return {"criu", Health::kNote, process.error().to_string(), ""};
  const MonoTime deadline = saturating_add(world.clock.mono_now(), kCriuPatience);
  const Result<sys::ExitStatus> status = (*process)->wait(ctx.until(deadline));
  if (!status) {
    return {"criu", Health::kNote, "installed, but 'criu check' did not answer in 5 s", ""};
  }
  return criu_says(*status, text);
}

}  // namespace outlast::cli
