#pragma once

#include "drill/report.h"
#include "report/markup.h"

namespace outlast::report {

// The facts of the timeline as a table, a row a machine. On a narrow screen the style makes a card
// of each row; the cells carry their headings for it. Takes finite numbers.
void write_lives_table(Markup& markup, const drill::Run& run);

}  // namespace outlast::report
