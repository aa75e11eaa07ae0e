#include "sdk/snapshots.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/agent_link.h"
#include "sdk/arena.h"
#include "sdk/snapshots_state.h"
#include "sdk/trainer_messages.h"

namespace outlast {

Snapshots::Snapshots(SnapshotOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

Snapshots::~Snapshots() {
  // In a child the crew's threads do not exist, and what is where the arena was belongs to others.
  // Nothing of it can be ended there.
  if (!state_->is_own_process()) [[maybe_unused]]
    State* const left = state_.release();
}

void Snapshots::add(std::string name, void* data, Dtype dtype, std::vector<std::uint64_t> shape) {
  state_->check_open();
  state_->registered.add(std::move(name), data, dtype, std::move(shape));
}

void Snapshots::add_blob(std::string name, std::size_t capacity, std::function<std::string()> get,
                         std::function<void(std::string_view)> set) {
  state_->check_open();
  state_->registered.add_blob({.name = std::move(name),
                               .capacity = capacity,
                               .is_exact = false,
                               .get = std::move(get),
                               .set = std::move(set)});
}

void Snapshots::add_check(std::string name, std::size_t capacity, std::function<std::string()> get,
                          std::function<void(std::string_view)> check) {
  state_->check_open();
  if (!check) throw SnapshotError("'" + name + "' needs both functions: get and check");
  state_->registered.add_blob({.name = std::move(name),
                               .capacity = capacity,
                               .is_exact = false,
                               .get = std::move(get),
                               .set = [](std::string_view) {},
                               .check = std::move(check)});
}

void Snapshots::add_value_bytes(std::string name, void* value, std::size_t bytes) {
  state_->check_open();
  state_->registered.add_value(std::move(name), value, bytes);
}

std::optional<std::uint64_t> Snapshots::resume() {
  return state_->resume();
}

bool Snapshots::step_done(std::uint64_t step, std::optional<std::uint64_t> total) {
  state_->session().crew.wait();
  state_->send_progress(step, total);
  state_->reached_step = step;
  const bool is_last = total && step >= *total;
  if (state_->open_ask(step) != 0 || (!state_->leaves && (is_last || state_->is_due(step)))) {
    state_->save(step, false);
  }
  return !state_->leaves;
}

void Snapshots::save(std::uint64_t step) {
  state_->save(step, false);
}

void Snapshots::save_async(std::uint64_t step) {
  state_->save(step, true);
}

void Snapshots::before_update() {
  state_->check_process();
  if (state_->has_session()) state_->session().crew.wait();
}

std::optional<Notice> Snapshots::notice() const {
  if (!state_->is_own_process()) return std::nullopt;
  const State::Agent* const agent = state_->living_agent();
  if (agent == nullptr) return std::nullopt;
  const std::uint64_t deadline = agent->arena->words().load(sdk::kDeadline);
  if (deadline == 0) return std::nullopt;
  const std::chrono::milliseconds since(static_cast<std::int64_t>(deadline));
  return Notice{std::chrono::system_clock::time_point(since)};
}

bool Snapshots::is_wanted(std::uint64_t step) const {
  if (!state_->is_own_process()) return false;
  state_->reach(step);
  return state_->open_ask(step) != 0;
}

void Snapshots::progress(std::uint64_t step, std::optional<std::uint64_t> total,
                         std::optional<double> epoch) {
  if (!state_->is_own_process()) return;
  State::Agent* const agent = state_->living_agent();
  if (agent == nullptr) return;
  state_->reach(step);
  agent->link->send(sdk::progress_message({.step = step, .total = total, .epoch = epoch}));
}

void Snapshots::metrics(const std::map<std::string, double>& values) {
  if (!state_->is_own_process()) return;
  State::Agent* const agent = state_->living_agent();
  if (agent == nullptr) return;
  for (const std::string& message : sdk::metrics_messages(values)) agent->link->send(message);
}

void Snapshots::done() {
  if (!state_->is_own_process() || state_->leaves) return;
  const std::optional<std::uint64_t> last = state_->reached_step;
  if (last && last != state_->saved_step) state_->save(*last, false);
  if (State::Agent* const agent = state_->living_agent()) agent->link->send(sdk::kDoneMessage);
}

bool Snapshots::has_agent() const {
  if (!state_->is_own_process()) return false;
  if (state_->has_session()) return state_->living_agent() != nullptr;
  return sdk::AgentLink::is_socket(sdk::agent_socket());
}

int Snapshots::leave_code() const {
  return state_->leave_code;
}

}  // namespace outlast
