#pragma once

#include <string>

#include "drill/report.h"
#include "report/figures.h"

namespace outlast::report {

enum class Tone {
  kGood,   // passed, and nothing to say against it
  kMixed,  // passed, but something was found
  kBad,    // an expectation failed, or the job did not end
};

// The drill in one sentence.
struct Verdict {
  Tone tone = Tone::kBad;
  std::string sentence = {};
};
Verdict verdict_of(const drill::Report& report, const Figures& figures);

}  // namespace outlast::report
