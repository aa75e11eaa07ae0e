#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sdk/agent_link.h"
#include "sdk/arena_map.h"
#include "sdk/arena_saver.h"
#include "sdk/copy_crew.h"
#include "sdk/file_snapshots.h"
#include "sdk/own_rank.h"
#include "sdk/registered.h"
#include "sdk/snapshot_layout.h"
#include "sdk/snapshots.h"

// What the calls of sdk/snapshots.h work on.
namespace outlast {

class Snapshots::State {
 public:
  using Clock = std::chrono::steady_clock;

  // The agent's side of it: all are there, or none.
  struct Agent {
    explicit Agent(std::unique_ptr<sdk::AgentLink> made) : link(std::move(made)) {}
    std::unique_ptr<sdk::AgentLink> link;
    std::unique_ptr<sdk::ArenaMap> arena = {};
    std::uint64_t answered = 0;  // the last ask that was
  };

  // Once nothing can be registered any more. The last is destroyed first.
  struct Session {
    Session(const sdk::Registered& registered, unsigned threads)
        : layout(registered), crew(threads) {}
    sdk::SnapshotLayout layout;
    std::unique_ptr<Agent> agent = {};  // else there are files
    std::unique_ptr<sdk::ArenaSaver> saver = {};
    sdk::CopyCrew crew;  // ends what it is at, which needs all the others
  };

  explicit State(SnapshotOptions given);

  // Throws unless this is the process that made it.
  void check_process() const;
  bool is_own_process() const;
  // Throws if it is too late to register anything.
  void check_open() const;
  // The session; begins it if this is the first time: connects, and nothing can be registered from
  // now on.
  Session& session();
  bool has_session() const { return session_ != nullptr; }

  // The agent, if there is one that lives; never begins a session.
  Agent* living_agent() const;
  // Lets the agent see that this step is done, before whatever is looked at next: of several ranks
  // it names a step that none has passed.
  void reach(std::uint64_t step) const;
  // The wish that a snapshot of this step would answer; 0 if there is none.
  std::uint64_t open_ask(std::uint64_t step) const;

  void save(std::uint64_t step, bool returns_at_once);
  bool is_due(std::uint64_t step);
  void send_progress(std::uint64_t step, std::optional<std::uint64_t> total);
  std::optional<std::uint64_t> resume();

  SnapshotOptions options;
  sdk::OwnRank own;
  sdk::Registered registered;
  sdk::FileSnapshots files;
  int leave_code = sdk::kDefaultLeaveCode;
  bool leaves = false;                             // the snapshot before leaving was taken
  std::optional<std::uint64_t> reached_step = {};  // by step_done()
  std::optional<std::uint64_t> saved_step = {};

 private:
  void begin_session();
  std::vector<std::string> take_blobs() const;
  void put_back(std::span<std::byte> snapshot, const std::string& where);

  const pid_t pid_;
  std::unique_ptr<Session> session_;
  Clock::time_point last_save_ = {};
  Clock::time_point last_progress_ = {};
  bool has_said_every_steps_ = false;
};

}  // namespace outlast
