#include "agent/trainer.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "job/trainer_end.h"
#include "sys/environment.h"
#include "sys/process.h"
#include "sys/process_family.h"

namespace outlast::agent {
namespace {

constexpr std::size_t kKnownMax = 4096;

job::TrainerExit exit_of(const sys::ExitStatus& status) {
  if (const auto* const signaled = std::get_if<sys::Signaled>(&status)) {
    return {.by_signal = true, .value = signaled->signal};
  }
  return {.value = std::get<sys::Exited>(status).code};
}

std::vector<std::pair<std::string, std::string>> merged_environment(
    sys::Environment& ours, const std::vector<std::pair<std::string, std::string>>& own) {
  std::map<std::string, std::string> merged;
  // What Python prints into a pipe would otherwise come in blocks, and be lost when it is killed.
  merged["PYTHONUNBUFFERED"] = "1";
  for (auto& [name, value] : ours.all()) merged.insert_or_assign(name, value);
  for (const auto& [name, value] : own) merged.insert_or_assign(name, value);
  return {merged.begin(), merged.end()};
}

Error not_started(const std::string& program, const Error& error) {
  if (error.code() == ErrorCode::kNotFound) {
    return {error.code(), program.find('/') == std::string::npos
                              ? fmt::format("there is no program '{}' in PATH", program)
                              : fmt::format("there is no program '{}', or not the one that its "
                                            "first line (#!) names",
                                            program)};
  }
  if (error.code() == ErrorCode::kPermissionDenied && program.find('/') == std::string::npos) {
    // Also where a folder of PATH cannot be read, and nothing is in the others.
    return {ErrorCode::kNotFound, fmt::format("PATH has no program '{}' that may be run", program)};
  }
  if (error.code() == ErrorCode::kPermissionDenied) {
    return {error.code(), fmt::format("'{}' may not be run: make it executable (chmod +x), or name "
                                      "the program that runs it, such as python3",
                                      program)};
  }
  return error;
}

}  // namespace

std::vector<std::string> shell_argv(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

Trainer::Trainer(const Parts& parts, std::unique_ptr<sys::Process> process)
    : parts_(parts), process_(std::move(process)) {}

Result<std::unique_ptr<Trainer>> Trainer::start(const Parts& parts, const TrainerCommand& command,
                                                Listener listener) {
  sys::ProcessSpec spec{.argv = command.argv, .working_dir = command.folder};
  spec.environment = merged_environment(parts.environment, command.environment);
  const auto printed = listener.printed;
  spec.out.target = [printed](std::string_view piece) { printed(false, piece); };
  spec.err.target = [printed](std::string_view piece) { printed(true, piece); };
  Result<std::unique_ptr<sys::Process>> process = parts.processes.spawn(std::move(spec));
  if (!process) return not_started(command.argv.front(), process.error());
  std::unique_ptr<Trainer> trainer(new Trainer(parts, *std::move(process)));
  trainer->thread_ = parts.threads.spawn(
      "trainer", [self = trainer.get(), listener = std::move(listener)](
                     const std::stop_token& stop) { self->carry(listener, stop); });
  return trainer;
}

void Trainer::carry(const Listener& listener, const std::stop_token& stop) {
  const Result<sys::ExitStatus> status = process_->wait({.stop = stop});
  // Helpers that outlived it would go on writing.
  if (status) kill_known();
  if (status) {
    listener.ended(exit_of(*status));
  } else {
    listener.ended(status.error());
  }
}

bool Trainer::can_ask(int signal_number) {
  const Result<std::vector<sys::FamilyMember>> family = this->family("");
  return family && sys::pick_receiver(*family, signal_number);
}

Result<bool> Trainer::ask(int signal_number) {
  OUTLAST_TRY_ASSIGN(const std::vector<sys::FamilyMember> family, this->family(""));
  const std::optional<sys::FamilyMember> receiver = sys::pick_receiver(family, signal_number);
  if (!receiver) return false;
  OUTLAST_TRY(parts_.families.signal(*receiver, signal_number));
  return true;
}

std::optional<std::set<std::string>> Trainer::open_for_writing(const std::string& folder) {
  std::set<std::string> open;
  const Result<std::vector<sys::FamilyMember>> family = this->family(folder);
  if (!family) return std::nullopt;
  const bool is_running = std::ranges::any_of(
      *family, [&](const sys::FamilyMember& member) { return member.pid == process_->pid(); });
  if (!is_running) return std::nullopt;
  for (const sys::FamilyMember& member : *family) {
    for (const std::string& path : member.writes) {
      if (path.size() > folder.size() + 1) open.insert(path.substr(folder.size() + 1));
    }
  }
  return open;
}

Result<std::vector<sys::FamilyMember>> Trainer::family(const std::string& folder) {
  OUTLAST_TRY_ASSIGN(std::vector<sys::FamilyMember> family,
                     parts_.families.family(process_->pid(), folder));
  const MutexLock lock(mutex_);
  if (known_.size() > kKnownMax) known_.clear();  // who comes and goes all the time
  for (const sys::FamilyMember& member : family) {
    known_.insert_or_assign({member.pid, member.started}, member).first->second.writes.clear();
  }
  return family;
}

void Trainer::kill_known() {
  std::map<std::pair<int, std::uint64_t>, sys::FamilyMember> known;
  {
    const MutexLock lock(mutex_);
    known = known_;
  }
  for (const auto& [id, member] : known) (void)parts_.families.signal(member, SIGKILL);
  (void)process_->signal_group(SIGKILL);
}

void Trainer::kill() {
  // First seen, then killed: once its parent has ended, a child that left the group is not found.
  (void)family("");
  kill_known();
}

}  // namespace outlast::agent
