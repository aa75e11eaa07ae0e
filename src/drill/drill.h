#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/bad_news.h"
#include "drill/expectations.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "job/spec.h"
#include "sys/call_context.h"
#include "sys/world.h"

// A rehearsal: a job is run once undisturbed and once on machines that are taken away from it, each
// of them the real 'outlast run' in a clean folder, and what came of it is compared.
namespace outlast::drill {

struct DrillOptions {
  job::Spec spec = {};                    // its root is not touched: a drill has its own
  std::vector<std::string> command = {};  // the trainer's; empty: spec.run, through the shell
  std::string command_text = {};          // the same for people
  std::string folder = {};                // that machines get a copy of; absolute
  std::string program = {};               // outlast itself
  std::string version = {};
  Source source = Source::kSignal;
  std::optional<Duration> notice_time = {};  // none: kNoticeTime, but no more than half of a gap
  std::uint64_t preemptions = 5;             // without a schedule
  std::optional<std::vector<Planned>> schedule = {};
  std::optional<Duration> poisson = {};  // mean time between preemptions, by `seed`
  std::uint64_t seed = 1;
  std::vector<Expected> expected = default_expectations();
  std::optional<std::string> baseline = {};  // a folder that an earlier drill has kept; absolute
  std::optional<std::string> keep = {};      // where everything is left; absolute
};

inline constexpr Duration kNoticeTime = std::chrono::seconds(30);

// Who watches a drill. Called from the thread that drills.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // What is going on, in a few words: often, each in place of the one before.
  virtual void doing(const std::string& words) = 0;
  // Something worth a line.
  virtual void happened(const std::string& line) = 0;
};

// Bad input is found before anything is started: kInvalidArgument, kNotFound. kFailed if the
// undisturbed run does not come to an end with a checkpoint: then there is nothing to rehearse.
// kCancelled once `ctx` is stopped. Whatever it returns, nothing of it runs any more, and unless it
// is to be kept nothing of it is left on the disk.
Result<Report> run_drill(sys::World& world, const DrillOptions& options, Watcher& watcher,
                         const sys::CallContext& ctx);

}  // namespace outlast::drill
