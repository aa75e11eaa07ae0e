#pragma once

#include <string>

#include "drill/report.h"

namespace outlast::report {

// The report as one HTML document that needs nothing else: no script, no font, no request, and a
// policy in it that forbids them. The verdict comes first. The same report gives the same bytes.
// Strings may be anything; times that are not finite count as unknown.
std::string render_drill_page(const drill::Report& report);

}  // namespace outlast::report
