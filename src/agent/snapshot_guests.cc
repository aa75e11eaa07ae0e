#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "agent/snapshot_host.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "job/progress_reader.h"
#include "sdk/arena.h"
#include "sys/call_context.h"
#include "sys/local_socket.h"
#include "sys/threads.h"

namespace outlast::agent {
namespace {

constexpr std::uint64_t kProtocol = 1;
constexpr std::uint32_t kRanksMax = 1024;
constexpr std::size_t kGuestsMax = 2048;                    // connections at one time
constexpr Duration kAcceptPause = std::chrono::seconds(1);  // after one that failed

// As those that are printed: more would not fit into a checkpoint's entry.
bool is_metric_name(const std::string& name) {
  return !name.empty() && name.size() <= job::kProgressNameMax &&
         std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

Error refusal(std::string why) {
  return {ErrorCode::kInvalidArgument, std::move(why)};
}

}  // namespace

void SnapshotHost::listen(sys::LocalListener& listener, const std::stop_token& stop) {
  struct Server {
    std::unique_ptr<sys::Thread> thread;
    std::shared_ptr<std::stop_source> ended;
  };
  std::vector<Server> servers;
  std::uint64_t id = 0;
  bool has_warned = false;
  const sys::CallContext ctx = {.stop = stop};
  while (!stop.stop_requested()) {
    Result<std::unique_ptr<sys::LocalSocket>> socket = listener.accept(ctx);
    std::erase_if(servers, [](const Server& one) { return one.ended->stop_requested(); });
    if (!socket) {
      if (socket.error().code() == ErrorCode::kCancelled) return;
      if (!std::exchange(has_warned, true)) {
        listener_.warn("snapshots-closed",
                       "trainers that use an SDK cannot reach us at the moment: " +
                           socket.error().to_string());
      }
      (void)parts_.clock.sleep_for(kAcceptPause, ctx);
      continue;
    }
    if (servers.size() >= kGuestsMax) continue;  // and it is closed
    auto ended = std::make_shared<std::stop_source>();
    servers.push_back({.thread = parts_.threads.spawn(
                           "snapshots",
                           [this, id, ended, shared = std::shared_ptr(*std::move(socket))](
                               const std::stop_token& stop_one) {
                             serve(*shared, id, {.stop = stop_one});
                             ended->request_stop();
                           }),
                       .ended = ended});
    ++id;
  }
}

void SnapshotHost::serve(sys::LocalSocket& socket, std::uint64_t id, const sys::CallContext& ctx) {
  // It may build its model before it says anything.
  const Result<sys::LocalMessage> first = socket.receive(ctx);
  if (!first) return;
  const Result<Hello> hello = read_hello(first->text);
  const Result<Welcome> welcome =
      hello ? take_in(*hello, {.id = id, .pid = socket.peer_pid()}) : hello.error();
  if (!welcome) {
    const Json refused = {{"type", "refused"}, {"why", welcome.error().sentence()}};
    listener_.warn("trainer-refused",
                   fmt::format("process {}, which wants to take snapshots, was refused: {}",
                               socket.peer_pid(), welcome.error().sentence()));
    (void)socket.send({.text = canonical_json(refused)}, ctx);
    return;
  }
  const Json answer = {{"type", "welcome"},
                       {"protocol", kProtocol},
                       {"slots", welcome->arena->slots()},
                       {"slot_bytes", welcome->arena->slot_bytes()},
                       {"leave_code", options_.leave_code},
                       {"note", welcome->note}};
  if (!welcome->note.empty()) listener_.warn("memory-short", welcome->note);
  Result<void> open =
      socket.send({.text = canonical_json(answer), .memory = welcome->arena->memory()}, ctx);
  if (open) listener_.news();
  while (open) {
    const Result<sys::LocalMessage> message = socket.receive(ctx);
    if (!message && message.error().code() == ErrorCode::kCorrupt) continue;  // the next may do
    if (!message) break;
    heard(hello->rank, id, message->text);
  }
  left(hello->rank, id);
}

Result<SnapshotHost::Hello> SnapshotHost::read_hello(const std::string& text) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text));
  OUTLAST_TRY_ASSIGN(const std::string type, json_string(json, "type"));
  if (type != "hello") return refusal(fmt::format("the first message is '{}', not 'hello'", type));
  OUTLAST_TRY_ASSIGN(const std::uint64_t protocol, json_uint(json, "protocol"));
  if (protocol != kProtocol) {
    return refusal(fmt::format(
        "the trainer's SDK speaks version {} of the protocol and this outlast version {}: "
        "install those of one release",
        protocol, kProtocol));
  }
  OUTLAST_TRY_ASSIGN(const std::uint64_t rank, json_uint(json, "rank"));
  OUTLAST_TRY_ASSIGN(const std::uint64_t ranks, json_uint(json, "ranks"));
  OUTLAST_TRY_ASSIGN(const std::uint64_t bytes, json_uint(json, "bytes"));
  if (ranks == 0 || ranks > kRanksMax || rank >= ranks) {
    return refusal(fmt::format("rank {} of {} is none: there may be 1 to {} ranks, counted from 0",
                               rank, ranks, kRanksMax));
  }
  return Hello{.rank = static_cast<std::uint32_t>(rank),
               .ranks = static_cast<std::uint32_t>(ranks),
               .bytes = bytes};
}

Result<std::shared_ptr<Arena>> SnapshotHost::register_guest(const Hello& hello,
                                                            const Guest& guest) {
  const MutexLock lock(mutex_);
  if (const auto there = guests_.find(hello.rank); there != guests_.end()) {
    return refusal(fmt::format(
        "rank {} is process {} already: give each process of the job its own rank (RANK and "
        "WORLD_SIZE, or the options of Snapshots)",
        hello.rank, there->second.pid));
  }
  if (!arenas_.empty() && arenas_.size() != hello.ranks) {
    if (!guests_.empty()) {
      return refusal(fmt::format("rank {} says that there are {} ranks, and others say {}",
                                 hello.rank, hello.ranks, arenas_.size()));
    }
    if (options_.newest(arenas_)) {
      return refusal(fmt::format(
          "the state to go on from was saved by {} ranks, and now there are {}: start as many "
          "as before",
          arenas_.size(), hello.ranks));
    }
    arenas_.clear();
    done_.clear();
  }
  arenas_.resize(hello.ranks);
  if (guests_.empty()) unpromised_.reset();
  guests_[hello.rank] = guest;
  is_used_ = true;
  is_from_store_ = false;
  return arenas_[hello.rank];
}

Result<SnapshotHost::Welcome> SnapshotHost::take_in(const Hello& hello, const Guest& guest) {
  OUTLAST_TRY_ASSIGN(std::shared_ptr<Arena> there, register_guest(hello, guest));
  std::uint64_t waiting = 0;  // for memory: this rank, and those that have not come yet
  {
    const MutexLock lock(mutex_);
    waiting = hello.ranks + 1 - guests_.size();
  }
  Welcome welcome{.arena = there};
  if (there && there->slot_bytes() >= hello.bytes) {
    // What was restored has taken the first slot only; what a trainer has used before, both.
    const bool is_second_taken =
        there->slots() == 1 || there->words().load(sdk::slot_word(1, sdk::kBegun)) != 0;
    if (!is_second_taken && promise(hello.bytes, 1, waiting) == 0) there->limit_to_one_slot();
  } else {
    const std::uint64_t slots = promise(hello.bytes, sdk::kSlotsMax, waiting);
    Result<std::shared_ptr<Arena>> made =
        slots == 0
            ? refusal(fmt::format(
                  "the state has {}, and this machine has not that much memory free: take a larger "
                  "machine, or save to files",
                  format_bytes_short(hello.bytes)))
            : Arena::make(parts_.memories, slots, hello.bytes);
    if (!made) {
      left(hello.rank, guest.id);
      return made.error();
    }
    welcome.arena = *made;
    // The trainer's state has grown: what it goes on from is in its new place, too.
    if (there) {
      for (const sdk::SlotSnapshot& snapshot : there->whole()) {
        std::ranges::copy(there->bytes_of(snapshot), welcome.arena->slot(0).begin());
        welcome.arena->set_first_slot(snapshot.number, snapshot.step, snapshot.length);
        break;
      }
    }
  }
  if (welcome.arena->slots() == 1) {
    welcome.note = fmt::format(
        "memory is short, so there is room for one snapshot of {} only: a save waits while the "
        "one before it is being uploaded, and a crash in a save costs all since the last "
        "checkpoint",
        format_bytes_short(hello.bytes));
  }
  const MutexLock lock(mutex_);
  arenas_[hello.rank] = welcome.arena;
  publish(*welcome.arena);
  return welcome;
}

void SnapshotHost::left(std::uint32_t rank, std::uint64_t id) {
  {
    const MutexLock lock(mutex_);
    const auto guest = guests_.find(rank);
    if (guest == guests_.end() || guest->second.id != id) return;
    guests_.erase(guest);
  }
  listener_.news();
}

// --- What they say ---

void SnapshotHost::heard(std::uint32_t rank, std::uint64_t id, const std::string& text) {
  const Result<Json> json = parse_json(text);
  if (!json) return;
  const Result<std::string> type = json_string(*json, "type");
  if (!type) return;
  const MonoTime now = parts_.clock.mono_now();
  bool is_news = false;
  {
    const MutexLock lock(mutex_);
    const auto guest = guests_.find(rank);
    if (guest == guests_.end() || guest->second.id != id) return;
    if (*type == "saved") {
      is_news = true;
      const Result<double> seconds = json_number(*json, "seconds");
      if (seconds && *seconds >= 0 && *seconds < 3600) {
        words_.stall =
            std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
      }
    } else if (*type == "done") {
      // Each says so after its own last snapshot: another one may still die over its own.
      is_news = done_.insert(rank).second;
      words_.is_done = done_.size() == arenas_.size();
    } else if (*type == "progress" && rank == 0) {
      const Result<std::uint64_t> step = json_uint(*json, "step");
      const Result<std::uint64_t> total = json_uint(*json, "total");
      const Result<double> epoch = json_number(*json, "epoch");
      if (step) words_.step = *step;
      if (total) words_.total = *total;
      if (epoch && std::isfinite(*epoch)) words_.epoch = *epoch;
      if (step && rated_ && *step > rated_->second && now > rated_->first) {
        steps_a_second_ = static_cast<double>(*step - rated_->second) /
                          std::chrono::duration<double>(now - rated_->first).count();
      }
      if (step) rated_ = {now, *step};
    } else if (*type == "metrics" && rank == 0 && json->contains("values") &&
               (*json)["values"].is_object()) {
      for (const auto& [name, value] : (*json)["values"].items()) {
        if (!value.is_number() || !std::isfinite(value.get<double>()) || !is_metric_name(name)) {
          continue;
        }
        if (words_.metrics.size() < job::kProgressMetricsMax || words_.metrics.contains(name)) {
          words_.metrics[name] = value.get<double>();
        }
      }
    }
  }
  if (is_news) listener_.news();
}

}  // namespace outlast::agent
