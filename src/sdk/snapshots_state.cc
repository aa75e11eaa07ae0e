#include "sdk/snapshots_state.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/agent_link.h"
#include "sdk/arena.h"
#include "sdk/arena_map.h"
#include "sdk/arena_saver.h"
#include "sdk/copy_crew.h"
#include "sdk/own_rank.h"
#include "sdk/registered.h"
#include "sdk/say.h"
#include "sdk/snapshots.h"
#include "sdk/trainer_messages.h"

namespace outlast {
namespace {

constexpr std::chrono::milliseconds kProgressEvery(200);
// Snapshots that nobody has asked for cost a hundredth of the time at most.
constexpr std::chrono::seconds kRhythmMin(1);
constexpr int kRhythmCopies = 100;

// The last wish that this arena's trainers have answered, as far as its slots still tell: a trainer
// that died after it is not to answer once more.
std::uint64_t last_answer(const sdk::ArenaMap& arena) {
  std::uint64_t answered = 0;
  sdk::ArenaWords words = arena.words();
  for (std::uint64_t slot = 0; slot < arena.slots(); ++slot) {
    if (const auto found = sdk::look_at_slot(words, slot)) {
      answered = std::max(answered, found->answers);
    }
  }
  return answered;
}

}  // namespace

Snapshots::State::State(SnapshotOptions given)
    : options(std::move(given)),
      own(sdk::find_own_rank(options.rank, options.ranks)),
      files(options.folder, own),
      pid_(::getpid()) {}

bool Snapshots::State::is_own_process() const {
  return ::getpid() == pid_;
}

void Snapshots::State::check_process() const {
  if (is_own_process()) return;
  throw SnapshotError("process " + std::to_string(::getpid()) + " was forked from " +
                      std::to_string(pid_) +
                      ", which alone may use these snapshots: make others in the child");
}

void Snapshots::State::check_open() const {
  check_process();
  if (!session_) return;
  throw SnapshotError(
      "the state is registered already: add everything before resume() and the first save");
}

Snapshots::State::Session& Snapshots::State::session() {
  check_process();
  if (!session_) begin_session();
  return *session_;
}

void Snapshots::State::begin_session() {
  if (registered.empty()) {
    throw SnapshotError("nothing is registered: add() the state before resume() and save()");
  }
  const unsigned threads = options.threads.value_or(sdk::default_copy_threads());
  auto session = std::make_unique<Session>(registered, threads);
  if (const std::string path = sdk::agent_socket(); !path.empty()) {
    if (auto link = sdk::AgentLink::connect(path)) {
      session->agent = std::make_unique<Agent>(std::move(link));
    } else {
      sdk::say("nobody listens at OUTLAST_SOCKET (" + path + "): snapshots are files in " +
               options.folder);
    }
  }
  if (session->agent) {
    Agent& agent = *session->agent;
    const sdk::Welcome welcome = agent.link->hello(own, session->layout.bytes_max());
    agent.arena = std::make_unique<sdk::ArenaMap>(welcome.memory, welcome.form,
                                                  session->layout.bytes_max(), threads);
    leave_code = welcome.leave_code;
    agent.answered = last_answer(*agent.arena);
    agent.arena->words().store(sdk::kStep, 0);
    if (!welcome.note.empty()) sdk::say(welcome.note);
    session->saver =
        std::make_unique<sdk::ArenaSaver>(sdk::ArenaSaver::Parts{.layout = session->layout,
                                                                 .arena = *agent.arena,
                                                                 .link = *agent.link,
                                                                 .crew = session->crew});
  }
  last_save_ = Clock::now();
  session_ = std::move(session);
}

Snapshots::State::Agent* Snapshots::State::living_agent() const {
  if (!session_ || !session_->agent || !session_->agent->link->is_alive()) return nullptr;
  return session_->agent.get();
}

void Snapshots::State::reach(std::uint64_t step) const {
  const Agent* const agent = living_agent();
  if (agent == nullptr) return;
  sdk::ArenaWords words = agent->arena->words();
  words.store(sdk::kStep, step + 1);
  words.fence();
}

std::uint64_t Snapshots::State::open_ask(std::uint64_t step) const {
  const Agent* const agent = living_agent();
  if (agent == nullptr) return 0;
  const sdk::ArenaWords words = agent->arena->words();
  const std::uint64_t ask = words.load(sdk::kAsk);
  return ask != agent->answered && step >= words.load(sdk::kAskStep) ? ask : 0;
}

std::vector<std::string> Snapshots::State::take_blobs() const {
  std::vector<std::string> blobs;
  for (const sdk::Blob& blob : registered.blobs()) {
    blobs.push_back(blob.get());
    if (blobs.back().size() <= blob.capacity) continue;
    throw SnapshotError("blob '" + blob.name + "' has " + std::to_string(blobs.back().size()) +
                        " bytes, and may have " + std::to_string(blob.capacity) +
                        ": register it with more");
  }
  return blobs;
}

void Snapshots::State::save(std::uint64_t step, bool returns_at_once) {
  Session& now = session();
  now.crew.wait();
  // Before a slot is touched: a blob that is too long, or cannot be had, changes nothing.
  std::vector<std::string> blobs = take_blobs();
  reach(step);
  if (!now.agent) {
    files.save(now.layout, step, blobs);
  } else if (Agent* const agent = living_agent(); agent != nullptr) {
    const std::uint64_t ask = open_ask(step);
    const sdk::ArenaSaver::Snapshot snapshot{
        .step = step, .answers = ask, .blobs = std::move(blobs)};
    if (returns_at_once) {
      now.saver->begin(snapshot);
    } else {
      now.saver->save(snapshot);
    }
    if (ask != 0) agent->answered = ask;
    leaves = leaves || ask % 2 == 1;
  }
  last_save_ = Clock::now();
  saved_step = step;
}

bool Snapshots::State::is_due(std::uint64_t step) {
  const Session& now = session();
  if (now.agent && !living_agent()) return false;
  if (options.every_steps > 0) return step % options.every_steps == 0;
  if (own.ranks > 1) {
    if (!now.agent && !std::exchange(has_said_every_steps_, true)) {
      sdk::say("several processes without outlast save nothing by themselves: set every_steps");
    }
    return false;
  }
  const auto since = Clock::now() - last_save_;
  if (!now.agent) return since >= options.file_interval;
  return since >= std::max<Clock::duration>(kRhythmMin, kRhythmCopies * now.saver->copy_time());
}

void Snapshots::State::send_progress(std::uint64_t step, std::optional<std::uint64_t> total) {
  const Agent* const agent = living_agent();
  if (agent == nullptr) return;
  reach(step);
  const Clock::time_point now = Clock::now();
  // The last step of all is always told.
  if (now - last_progress_ < kProgressEvery && !(total && step >= *total)) return;
  last_progress_ = now;
  agent->link->send(sdk::progress_message({.step = step, .total = total}));
}

}  // namespace outlast
