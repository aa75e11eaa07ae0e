#pragma once

#include "drill/report.h"

namespace outlast::report {

// The same report with numbers that can be drawn: a time that is not finite is unknown (0 where it
// cannot be), one before the beginning is the beginning, none is beyond a century or so; no life
// ends before what happened in it.
drill::Report finite(drill::Report report);

}  // namespace outlast::report
