#include "agent/begin_attempt.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/work_folder.h"
#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/read_object.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "job/retry_budget.h"
#include "job/spec_json.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;

constexpr Duration kRootWait = seconds(5);     // between two tries
constexpr Duration kSilenceMax = seconds(10);  // before a person is told what we wait for
constexpr Duration kListenEvery = seconds(2);  // to whoever has the job
constexpr std::uint64_t kIdBytesMax = 4096;
// So many epochs in a row that left no record are looked over for an older one.
constexpr job::Epoch kRecordsMissingMax = 16;

// Asks until there is an answer, or patience ends.
template <typename T>
Result<T> patiently(sys::World& world, const BeginRequest& request, const sys::CallContext& ctx,
                    const std::function<Result<T>(const sys::CallContext&)>& ask) {
  const MonoTime began = world.clock.mono_now();
  const MonoTime give_up = saturating_add(began, request.root_patience);
  bool told = false;
  while (true) {
    Result<T> answer =
        ask(ctx.until(told ? give_up : std::min(give_up, saturating_add(began, kSilenceMax))));
    if (answer || !may_come_back(answer.error())) return answer;
    if (saturating_add(world.clock.mono_now(), kRootWait) >= give_up) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("the root does not answer, for {} now; nothing was started: {}",
                               format_duration_short(world.clock.mono_now() - began),
                               answer.error().to_string()));
    }
    if (!std::exchange(told, true)) {
      request.tell(
          EventLevel::kWarning, "root-away",
          fmt::format("the root does not answer; trying for {}: {}",
                      format_duration_short(request.root_patience), answer.error().to_string()));
    }
    OUTLAST_TRY(world.clock.sleep_for(kRootWait, ctx));
  }
}

// Whether it was a process of this very machine that does not run any more. One that has ended and
// that nobody has asked how ("Z") does not run.
bool is_gone(const AgentId& other, const AgentId& self, sys::World& world) {
  if (other.machine.empty() || other.machine != self.machine || other.pid == 0) return false;
  if (other.pid == self.pid) return true;
  const Result<std::string> stat =
      sys::read_file(world.files, fmt::format("/proc/{}/stat", other.pid), kIdBytesMax);
  if (!stat) return stat.error().code() == ErrorCode::kNotFound;
  const std::size_t name_end = stat->rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat->size() &&
         ((*stat)[name_end + 2] == 'Z' || (*stat)[name_end + 2] == 'X');
}

// Who has the job and may still live.
Result<std::optional<FoundBeat>> other_agent(store::ObjectStore& root, const BeginRequest& request,
                                             sys::World& world, const sys::CallContext& ctx) {
  Result<std::optional<FoundBeat>> found = find_beat(root, request.spec.name.str(), ctx);
  // A beat that cannot be read tells nothing; the fence is what keeps us safe.
  if (!found && checkpoint::is_damage(found.error())) return std::optional<FoundBeat>();
  OUTLAST_TRY_ASSIGN(std::optional<FoundBeat> other, std::move(found));
  const bool may_live = other && other->beat.state != AgentState::kEnded &&
                        !is_gone(other->beat.agent, request.agent, world);
  if (!may_live) other.reset();
  return other;
}

// By the store's clock alone; zero where it does not tell.
Duration silence_of(const FoundBeat& beat, store::ObjectStore& root, const sys::CallContext& ctx) {
  const Result<WallTime> now = root.server_time(ctx);
  return now ? std::max<Duration>(*now - beat.modified, Duration::zero()) : Duration::zero();
}

// Until nobody is heard of: no beat came for as long as it takes to call an attempt vanished, by
// the store's clock and then our own steady one. A clock that is wrong, here or there, changes
// nothing.
Result<void> wait_for_silence(store::ObjectStore& root, const BeginRequest& request,
                              sys::World& world, const sys::CallContext& ctx) {
  if (request.take_over_now) return {};
  std::string heard;
  MonoTime since = {};
  while (true) {
    OUTLAST_TRY_ASSIGN(const std::optional<FoundBeat> other,
                       other_agent(root, request, world, ctx));
    if (!other) return {};
    const MonoTime now = world.clock.mono_now();
    if (heard.empty()) {
      const Duration silent_for = silence_of(*other, root, ctx);
      if (silent_for >= kBeatStale) return {};
      request.tell(EventLevel::kNote, "waiting",
                   fmt::format("job '{}' was trained on {} a moment ago, which did not say that it "
                               "ended; listening for {} whether it still lives (--take-over does "
                               "not wait)",
                               request.spec.name.str(), other->beat.agent.host,
                               format_duration_short(kBeatStale - silent_for)));
      heard = other->version;
      since = now - silent_for;
    } else if (heard != other->version) {
      return Error(ErrorCode::kAlreadyExists,
                   fmt::format("job '{}' is being trained on {} right now; stop it there, or take "
                               "it over with --take-over",
                               request.spec.name.str(), other->beat.agent.host));
    }
    if (now - since >= kBeatStale) return {};
    OUTLAST_TRY(world.clock.sleep_for(kListenEvery, ctx));
  }
}

bool is_ending(job::EntryKind kind) {
  return kind == job::EntryKind::kDone || kind == job::EntryKind::kFailed ||
         kind == job::EntryKind::kCancelled;
}

std::optional<job::LogEntry> ending_of(const job::History& history) {
  if (history.ended() == 0) return std::nullopt;
  const job::LogEntry* const ending = history.ending();
  return ending != nullptr ? *ending : job::LogEntry{.kind = job::EntryKind::kDone};
}

// How the attempts up to this one ended, as the newest record tells. An epoch without one, or with
// one that cannot be read, is of somebody who did not train.
Result<std::vector<job::AttemptEnd>> ends_before(store::ObjectStore& job_store, job::Epoch newest,
                                                 const sys::CallContext& ctx) {
  const job::Epoch oldest = newest > kRecordsMissingMax ? newest - kRecordsMissingMax : 0;
  for (job::Epoch epoch = newest; epoch > oldest; --epoch) {
    const Result<std::string> text =
        checkpoint::read_object(job_store, attempt_key(epoch), kAttemptBytesMax, ctx);
    if (!text && text.error().code() == ErrorCode::kNotFound) continue;
    OUTLAST_TRY(text);
    Result<AttemptRecord> record = decode_attempt(*text);
    if (!record) continue;
    if (!record->ended) record->ends.push_back({.kind = job::AttemptEnd::Kind::kPreempted});
    return std::move(record->ends);
  }
  return std::vector<job::AttemptEnd>();
}

Result<std::string> read_text(sys::World& world, const std::string& path) {
  return sys::read_file(world.files, path, kIdBytesMax);
}

}  // namespace

bool may_come_back(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kUnavailable:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

AgentId this_agent(sys::World& world) {
  AgentId id{.host = world.environment.host_name()};
  if (const Result<std::string> self = world.files.read_symlink("/proc/self")) {
    (void)std::from_chars(self->data(), self->data() + self->size(), id.pid);
  }
  const Result<std::string> boot = read_text(world, "/proc/sys/kernel/random/boot_id");
  const Result<std::string> space = world.files.read_symlink("/proc/self/ns/pid");
  if (boot && space) id.machine = fmt::format("{} {}", ascii_trimmed(*boot), *space);
  return id;
}

Result<std::variant<Begun, job::LogEntry>> begin_attempt(store::ObjectStore& root,
                                                         sys::World& world,
                                                         const BeginRequest& request,
                                                         const sys::CallContext& ctx) {
  using Checkpoints = checkpoint::Checkpoints;
  const Checkpoints::Parts parts = {.root = root,
                                    .files = world.files,
                                    .threads = world.threads,
                                    .clock = world.clock,
                                    .random = world.random,
                                    .writer = request.writer};
  Begun begun;
  OUTLAST_TRY_ASSIGN(begun.checkpoints, patiently<std::unique_ptr<Checkpoints>>(
                                            world, request, ctx, [&](const sys::CallContext& soon) {
                                              return Checkpoints::open(
                                                  parts, request.spec.name.str(), soon);
                                            }));
  Checkpoints& checkpoints = *begun.checkpoints;
  const job::History& history = checkpoints.log().history();
  if (history.highest() < request.seen_here) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("attempt {} of job '{}' was in this folder, and {} knows only {}: is it "
                    "the right root, and is it mounted? To begin anew here, remove {}",
                    request.seen_here, request.spec.name.str(), request.spec.root,
                    history.highest(), WorkFolder::kName));
  }
  if (auto ending = ending_of(history)) return *std::move(ending);
  OUTLAST_TRY(wait_for_silence(root, request, world, ctx));
  OUTLAST_TRY(checkpoints.log().refresh(ctx));
  if (auto ending = ending_of(history)) return *std::move(ending);
  const job::Epoch before = history.highest();
  // A fence would open a job again that somebody has ended at this very moment.
  const checkpoint::CommitLog::Objection objection =
      [](const job::LogEntry& theirs) -> Result<void> {
    if (!is_ending(theirs.kind)) return {};
    return Error(ErrorCode::kConditionFailed, "the job has just been ended");
  };
  Result<job::Epoch> epoch =
      checkpoints.log().take_over(fmt::format("run on {}", request.agent.host), objection, ctx);
  if (!epoch) {
    if (auto ending = ending_of(history)) return *std::move(ending);
    return std::move(epoch).error();
  }
  begun.epoch = *epoch;

  store::ObjectStore& own = checkpoints.store();
  const std::string spec = canonical_json(job::to_json(request.spec));
  const Result<std::string> put =
      own.put(std::string(kSpecKey), as_bytes(spec), store::WriteIf::absent(), ctx);
  if (!put && put.error().code() != ErrorCode::kAlreadyExists &&
      put.error().code() != ErrorCode::kUnknownOutcome) {
    return put.error().while_doing("keep the job file in the root");
  }
  OUTLAST_TRY_ASSIGN(begun.ends, ends_before(own, before, ctx));
  return begun;
}

}  // namespace outlast::agent
