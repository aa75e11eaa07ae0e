#include "report/drill_page.h"

#include <fmt/core.h>

#include <string>

#include "base/encoding.h"
#include "base/hash.h"
#include "drill/report.h"
#include "report/figures.h"
#include "report/finite.h"
#include "report/lives_table.h"
#include "report/markup.h"
#include "report/page_sections.h"
#include "report/page_style.h"
#include "report/timeline_legend.h"
#include "report/timeline_svg.h"
#include "report/verdict.h"

namespace outlast::report {
namespace {

// Nothing is loaded, nothing runs, and no style counts but the page's own, by its hash.
std::string policy() {
  const auto hash = sha256(as_bytes(page_style()));
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
      base64_encode(hash.bytes));
}

void write_head(Markup& markup, const drill::Report& report, const Figures& figures) {
  markup.open("head").empty("meta", {{"charset", "utf-8"}});
  markup.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  markup.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  markup.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  markup.empty("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  const std::string name = report.job.empty() ? "Drill" : report.job;
  markup.leaf("title", {}, name + ": " + verdict_of(report, figures).sentence);
  markup.open("style").raw(page_style()).close().close();
}

void write_body(Markup& markup, const drill::Report& report, const Figures& figures) {
  markup.open("body").open("main");
  write_header(markup, report, figures);
  write_figures(markup, figures);
  if (!report.disturbed.lives.empty()) {
    markup.open("section").leaf("h2", {}, "Timeline");
    write_legend(markup, report);
    write_timeline(markup, report);
    markup.close().open("section").leaf("h2", {}, "Machines");
    write_lives_table(markup, report.disturbed);
    markup.close();
  }
  write_result(markup, report);
  write_findings(markup, report);
  write_run(markup, report, figures);
  markup.close().close();
}

}  // namespace

std::string render_drill_page(const drill::Report& report) {
  const drill::Report drawn = finite(report);
  const Figures figures = figures_of(drawn);
  Markup markup;
  markup.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}});
  write_head(markup, drawn, figures);
  write_body(markup, drawn, figures);
  markup.close().raw("\n");
  return markup.take();
}

}  // namespace outlast::report
