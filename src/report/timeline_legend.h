#pragma once

#include "drill/report.h"
#include "report/markup.h"

namespace outlast::report {

// What the bars and marks of the timeline mean: those that there are. Takes finite numbers.
void write_legend(Markup& markup, const drill::Report& report);

}  // namespace outlast::report
