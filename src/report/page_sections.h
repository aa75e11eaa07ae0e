#pragma once

#include "drill/report.h"
#include "report/figures.h"
#include "report/markup.h"

// The parts of the page that are words and lists, each with its heading. All take finite numbers.
namespace outlast::report {

// The verdict and the expectations.
void write_header(Markup& markup, const drill::Report& report, const Figures& figures);
void write_figures(Markup& markup, const Figures& figures);
// Whether the result is the undisturbed one's.
void write_result(Markup& markup, const drill::Report& report);
void write_findings(Markup& markup, const drill::Report& report);
// What was run, and how to run it again.
void write_run(Markup& markup, const drill::Report& report, const Figures& figures);

}  // namespace outlast::report
