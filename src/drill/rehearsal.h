#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/bad_news.h"
#include "drill/clean_folder.h"
#include "drill/drill.h"
#include "drill/life_record.h"
#include "drill/machine_end.h"
#include "drill/schedule.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::drill {

// Runs the job from its beginning to its end, on as many machines as that takes. What belongs to a
// run is in a folder of its name in the scratch folder. Machines all have the same folder, one
// after the other: trainers write paths into their checkpoints. Confined to its owner.
class Rehearsal {
 public:
  Rehearsal(sys::World& world, const DrillOptions& options, Watcher& watcher, std::string scratch);

  struct RunPlan {
    std::string name = {};  // "undisturbed", …
    Source source = Source::kSignal;
    Duration notice_time = {};
    Duration patience = {};
    std::deque<Planned> schedule = {};
  };
  // The lives, in order. The last one is done unless the job has failed or was given up.
  Result<std::vector<LifeRecord>> run(RunPlan plan, const sys::CallContext& ctx);

  // The root of a run.
  std::string root_of(const std::string& run) const;
  TrainerPlace trainer_place() const;
  // What each machine gets.
  static CopyPlan copy_plan(const DrillOptions& options, const std::string& scratch);

 private:
  Result<LifeRecord> live(const RunPlan& plan, std::uint64_t number, double began,
                          std::deque<Planned>& schedule, const sys::CallContext& ctx);
  Result<std::string> write_job_file(const RunPlan& plan);
  Result<void> clear_machine(const std::string& run, std::uint64_t number);
  std::string machine_folder() const;

  sys::World& world_;
  const DrillOptions& options_;
  Watcher& watcher_;
  const std::string scratch_;
};

}  // namespace outlast::drill
