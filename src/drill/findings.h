#pragma once

#include <vector>

#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {

// What is wrong with the trainer, by what the disturbed run has shown: the worst first. Pure. The
// runs and the comparison of the report are there already; `records` are the lives of its disturbed
// run.
//
//   does-not-resume      its files were put back, and it began anew
//   crashes-on-resume    … and it failed
//   hangs-on-resume      … and nothing was heard of it any more
//   torn-files           a checkpoint is written under its final name
//   ignores-sigterm      it neither leaves nor would
//   too-slow-for-notice  what it saved on a notice came too late
//   notice-not-heard     the notice was over before anybody knew of it
//   order-shifts         it resumes, and goes another way from there
//   not-repeatable       undisturbed runs differ, too
//   saves-too-rarely     most of what it did was not in a file yet
//   fails                it failed where nothing was done to it
std::vector<Finding> find_out(const Report& report, const std::vector<LifeRecord>& records,
                              const StepScale& scale);

}  // namespace outlast::drill
