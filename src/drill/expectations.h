#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/report.h"

// What a drill is to show, and whether it did: what makes it a test. Pure.
namespace outlast::drill {

struct Expected {
  enum class Kind {
    kLostSteps,   // lost<=5: on each machine
    kLostTime,    // lost<=10s: on each machine
    kRecovery,    // recovery<=90s: each
    kOverhead,    // overhead<=20%
    kCommitted,   // committed<=25s: from each notice
    kIdentical,   // identical: the result, bit for bit
    kResumed,     // resumed: every machine went on from what was saved
    kNoFindings,  // clean: nothing was found
  };
  Kind kind = Kind::kResumed;
  double limit = 0;  // steps, seconds, or a part of 1
  std::string text = {};
  // Nobody asked for it: where it cannot be told it is not held against anyone.
  bool is_default = false;
};

// "lost<=0,recovery<=90s,identical". kInvalidArgument with what is wrong.
Result<std::vector<Expected>> parse_expectations(std::string_view text);
// Without any: resumed and, of a trainer whose undisturbed runs are all the same, identical.
std::vector<Expected> default_expectations();

// What every rehearsal needs, whatever is expected of it: that the job was done in the end, and
// that something was done to it. Only what was not met.
std::vector<Expectation> judge_rehearsal(const Report& report);

// Of a report whose findings are in it already.
std::vector<Expectation> judge(const std::vector<Expected>& expected, const Report& report);

}  // namespace outlast::drill
