#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "job/trainer_end.h"
#include "sys/environment.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/threads.h"

namespace outlast::agent {

// How a trainer is started.
struct TrainerCommand {
  std::vector<std::string> argv = {};
  std::string folder = {};  // that it runs in
  // Beside what we have ourselves; these win.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

// "run: …" of a job file, and a command that is one word with more than a program's name in it: by
// the shell.
std::vector<std::string> shell_argv(const std::string& script);

// The user's process, with its helpers. Its output and its end are carried by a thread of this
// object. Destroying it kills whatever is left. Confined to its owner.
class Trainer {
 public:
  struct Parts {
    sys::ProcessLauncher& processes;
    sys::ProcessFamilies& families;
    sys::Environment& environment;
    sys::Threads& threads;
  };
  // Both are called on the trainer's thread: `printed` with each piece of what it writes, `ended`
  // once, last of all.
  struct Listener {
    std::function<void(bool is_err, std::string_view piece)> printed = {};
    std::function<void(Result<job::TrainerExit>)> ended = {};
  };

  // kNotFound if there is no such program.
  static Result<std::unique_ptr<Trainer>> start(const Parts& parts, const TrainerCommand& command,
                                                Listener listener);

  // Whether somebody of the family handles this signal and would be asked by ask().
  bool can_ask(int signal_number);
  // Sends it to the topmost process that handles it; false if nobody does.
  Result<bool> ask(int signal_number);
  // Paths below `folder`, without it, that the family has open for writing. None if that cannot be
  // told: also once the trainer itself has ended, whose files nobody has open any more.
  std::optional<std::set<std::string>> open_for_writing(const std::string& folder);
  // The whole family, in whatever group its members are: nothing of it is left to write anything.
  void kill();

 private:
  Trainer(const Parts& parts, std::unique_ptr<sys::Process> process);
  void carry(const Listener& listener, const std::stop_token& stop);
  // Who belongs to it now; each of them is remembered.
  Result<std::vector<sys::FamilyMember>> family(const std::string& folder);
  void kill_known();

  const Parts parts_;
  const std::unique_ptr<sys::Process> process_;
  mutable Mutex mutex_;
  // By pid and start. A helper that left the group is not found any more once its parent has ended.
  std::map<std::pair<int, std::uint64_t>, sys::FamilyMember> known_ OUTLAST_GUARDED_BY(mutex_);
  std::unique_ptr<sys::Thread> thread_;  // ends before what it uses
};

}  // namespace outlast::agent
