#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "notice/slurm_job.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::notice {

// scontrol, Slurm's own tool, for one job. Each call runs it once, for some seconds at most:
// kNotFound if it is not installed, kUnavailable if it takes longer, kFailed, with what it wrote,
// if it does not end with 0, kInvalidArgument for an answer that is none. Thread-safe.
class SlurmControl {
 public:
  SlurmControl(sys::World& world, std::string job) : world_(world), job_(std::move(job)) {}

  Result<SlurmJob> show_job(const sys::CallContext& ctx);
  Result<SlurmConfig> show_config(const sys::CallContext& ctx);
  // What happens to jobs of this partition that are preempted.
  Result<std::string> show_preempt_mode(const std::string& partition, const sys::CallContext& ctx);
  Result<void> requeue(const sys::CallContext& ctx);

 private:
  Result<std::string> run(std::vector<std::string> words, const sys::CallContext& ctx);

  sys::World& world_;
  const std::string job_;
};

}  // namespace outlast::notice
