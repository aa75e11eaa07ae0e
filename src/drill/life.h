#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "drill/agent_lines.h"
#include "drill/bad_news.h"
#include "drill/life_record.h"
#include "drill/machine_end.h"
#include "drill/printed_steps.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "job/line_pattern.h"
#include "sys/call_context.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::drill {

// The machine of one life: where it is and what runs on it.
struct MachinePlan {
  std::vector<std::string> argv = {};  // of the agent
  std::string folder = {};             // it works in; there
  TrainerPlace trainer = {};
  std::optional<job::LinePattern> progress = {};
  Duration notice_time = {};
  // Without a sign of life for so long, it is given up.
  Duration patience = Duration::max();
};

// Drives one life: starts the real program, listens to it, and does to it what the schedule says.
// One thread: the program's output comes while we wait for its end. Confined to its owner.
class LifeDriver {
 public:
  // `doing` is told, in a few words, what the machine is at.
  LifeDriver(sys::World& world, BadNews& news, MachinePlan plan,
             std::function<void(const std::string&)> doing);

  // Until the machine has ended; nobody of it runs any more then, also after an error. Takes off
  // `schedule` what has been done: several items if notices are withdrawn. `began` is the time of
  // the run at which the machine begins. kCancelled if `ctx` is stopped.
  Result<LifeRecord> run(std::uint64_t number, double began, std::deque<Planned>& schedule,
                         const sys::CallContext& ctx);

 private:
  enum class Next {
    kNothing,   // it may live until it is done
    kTrouble,   // the next of the schedule, once its time has come
    kOpenFile,  // the end, as soon as a checkpoint is being written
    kWithdraw,  // the notice is taken back
    kEnd,       // the notice is over
  };

  Result<void> drive(std::deque<Planned>& schedule, const sys::CallContext& ctx);
  Result<bool> wait_a_while(const sys::CallContext& ctx);
  Result<void> act(std::deque<Planned>& schedule);
  Result<void> begin_trouble(std::deque<Planned>& schedule);
  Result<void> look_for_open_file(std::deque<Planned>& schedule);
  Result<void> kill(const std::vector<std::string>& open);
  void plan_next(const std::deque<Planned>& schedule, MonoTime from);
  void heard(const AgentEvent& event);
  void give_up(std::string why);
  void take_words();
  void show_step(const StepReader& reader);
  double elapsed();  // of the run, until now
  MonoTime next_time() const;

  sys::World& world_;
  BadNews& news_;
  const MachinePlan plan_;
  const std::function<void(const std::string&)> doing_;

  std::unique_ptr<sys::Process> agent_;
  MonoTime started_ = {};
  MonoTime last_sign_ = {};
  LifeRecord record_;
  StepReader out_;  // what the trainer prints
  StepReader err_;
  std::optional<std::uint64_t> shown_step_;
  AgentLines lines_;
  std::optional<MonoTime> training_;
  Next next_ = Next::kNothing;
  MonoTime next_at_ = kNever;
  MonoTime open_file_until_ = kNever;
  std::optional<Error> trouble_;  // because of which there is no use in going on
  int unasked_ = 0;               // times that the trainer left by itself
  bool has_ended_ = false;
  std::function<void()> wake_ = {};  // ends the wait: something happened
};

}  // namespace outlast::drill
