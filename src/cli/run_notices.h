#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/program/command_line.h"
#include "cli/run_plan.h"
#include "notice/notice_source.h"
#include "sys/environment.h"
#include "sys/world.h"

// Where 'outlast run' hears bad news from.
namespace outlast::cli {

// Into the plan: by the options; where they name files only, the environment or, last, what can be
// found out says the rest. kInvalidArgument, with the sentence for the user, for a word that is
// none.
Result<void> take_notices(const Invocation& invocation, sys::Environment& environment,
                          RunPlan& plan);

// As the plan says. `began` is when the machine's life is counted
// from.
Result<std::vector<std::unique_ptr<notice::NoticeSource>>> notice_sources(const RunPlan& plan,
                                                                          MonoTime began,
                                                                          sys::World& world,
                                                                          const Logger& log);

}  // namespace outlast::cli
