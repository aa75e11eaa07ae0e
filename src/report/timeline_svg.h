#pragma once

#include "drill/report.h"
#include "report/markup.h"

namespace outlast::report {

// The drill as a picture: time from left to right, one lane a machine (<g class="lane">), the
// undisturbed run above. Places along the time are shares of the width, so that it fits every
// screen with letters of one size. Colours are classes of the page's style. Takes finite numbers.
void write_timeline(Markup& markup, const drill::Report& report);

}  // namespace outlast::report
