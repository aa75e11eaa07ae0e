#include "agent/work_folder.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::agent {
namespace {

constexpr std::uint64_t kMarkBytesMax = 64U << 20U;
constexpr Duration kLockWait = std::chrono::seconds(5);
constexpr std::uint64_t kLifeLogBytesMax = 16U << 20U;

std::optional<WorkFolder::Mark> read_mark(std::string_view text) {
  const Result<Json> json = parse_json(text, {.bytes_max = kMarkBytesMax});
  if (!json) return std::nullopt;
  Result<std::string> job = json_string(*json, "job");
  const Result<std::uint64_t> epoch = json_uint(*json, "epoch");
  if (!job || !epoch) return std::nullopt;
  WorkFolder::Mark mark{.job = *std::move(job), .epoch = *epoch};
  const auto foreign = json->find("foreign");
  if (foreign == json->end() || !foreign->is_array()) return std::nullopt;
  for (const Json& path : *foreign) {
    if (path.is_string()) mark.foreign.insert(path.get<std::string>());
  }
  return mark;
}

}  // namespace

Result<WorkFolder> WorkFolder::open(sys::FileSystem& files, sys::Clock& clock,
                                    const std::string& folder, const sys::CallContext& ctx) {
  WorkFolder work(files, folder);
  OUTLAST_TRY(sys::make_dirs(files, work.output_dir()).while_doing("make our folder"));
  // An agent that was killed a moment ago may still be unwinding; one that lives goes on for long.
  const sys::CallContext soon = ctx.until(saturating_add(clock.mono_now(), kLockWait));
  Result<std::unique_ptr<sys::FileLock>> lock = files.lock(work.corner("lock"), soon);
  if (!lock && lock.error().code() == ErrorCode::kDeadlineExceeded) {
    return Error(ErrorCode::kAlreadyExists,
                 fmt::format("another 'outlast run' works in {}; wait until it has ended, or run "
                             "this one in a folder of its own",
                             folder));
  }
  OUTLAST_TRY_ASSIGN(work.lock_, std::move(lock));
  return work;
}

std::string WorkFolder::corner(std::string_view name) const {
  return sys::join_path(sys::join_path(folder_, kName), name);
}

std::string WorkFolder::notice_file() const {
  return corner("notice.json");
}
std::string WorkFolder::socket() const {
  return corner("socket");
}
std::string WorkFolder::output_dir() const {
  return corner("output");
}
std::string WorkFolder::aside_folder() const {
  return corner("aside");
}

std::optional<WorkFolder::Mark> WorkFolder::mark() const {
  const Result<std::string> text = sys::read_file(*files_, corner("mark.json"), kMarkBytesMax);
  return text ? read_mark(*text) : std::nullopt;
}

Result<void> WorkFolder::set_mark(const Mark& mark) {
  const Json json = {{"job", mark.job}, {"epoch", mark.epoch}, {"foreign", mark.foreign}};
  return sys::write_file_atomically(*files_, corner("mark.json"), as_bytes(canonical_json(json)));
}

Result<void> WorkFolder::set_aside(const std::vector<std::string>& paths, job::Epoch epoch) {
  const std::string own = sys::join_path(aside_folder(), fmt::format("{:08}", epoch));
  if (const auto before = files_->list(aside_folder())) {
    for (std::size_t i = 0; i + 1 < before->size(); ++i) {
      OUTLAST_TRY(sys::remove_tree(*files_, sys::join_path(aside_folder(), (*before)[i].name)));
    }
  }
  for (const std::string& path : paths) {
    const std::string to = sys::join_path(own, path);
    OUTLAST_TRY(sys::make_dirs(*files_, sys::parent_path(to)));
    // A second life of this attempt may have set the same aside.
    OUTLAST_TRY(sys::remove_tree(*files_, to));
    const Result<void> moved = files_->rename(sys::join_path(folder_, path), to);
    if (!moved && moved.error().code() != ErrorCode::kNotFound) return moved;
  }
  return {};
}

Result<void> WorkFolder::log_life(std::string_view line) {
  const std::string path = sys::join_path(folder_, kLifeLog);
  Result<std::string> text = sys::read_file(*files_, path, kLifeLogBytesMax);
  // Somebody else's file, or one that grew beyond all measure: not worth a failed life.
  if (!text && text.error().code() != ErrorCode::kNotFound) return std::move(text).error();
  const std::string whole = fmt::format("{}{}\n", text ? *text : "", line);
  return sys::write_file_atomically(*files_, path, as_bytes(whole));
}

}  // namespace outlast::agent
