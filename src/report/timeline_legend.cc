#include "report/timeline_legend.h"

#include <fmt/core.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "drill/report.h"
#include "report/life_bars.h"
#include "report/markup.h"
#include "report/timeline_shapes.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

// The classes of the bars and marks that there are.
std::set<std::string_view> drawn_in(const drill::Report& report) {
  std::set<std::string_view> drawn;
  for (const drill::Life& life : report.disturbed.lives) {
    for (const Bar& bar : bars_of(life)) drawn.insert(class_of(bar.kind));
    for (const drill::Injection& injection : life.injections) {
      drawn.insert(is_said(injection.trouble) ? "notice" : "killed");
    }
    if (!life.saves.empty()) drawn.insert("commit");
    if (life.outcome == "done") drawn.insert("done");
  }
  return drawn;
}

}  // namespace

void write_legend(Markup& markup, const drill::Report& report) {
  using Entry = std::pair<BarKind, std::string_view>;
  const std::set<std::string_view> drawn = drawn_in(report);
  markup.open("ul", {{"class", "legend"}});
  for (const auto& [kind, text] :
       {Entry(BarKind::kStarting, "starting, restoring"), Entry(BarKind::kTraining, "training"),
        Entry(BarKind::kNotice, "under notice"), Entry(BarKind::kWithdrawn, "notice withdrawn"),
        Entry(BarKind::kSpare, "time to spare")}) {
    const std::string_view name = class_of(kind);
    if (!drawn.contains(name)) continue;
    markup.open("li");
    markup.leaf("span", {{"class", fmt::format("swatch {}", name)}}, "").text(text).close();
  }
  for (const Shape& shape : kShapes) {
    if (!drawn.contains(shape.name)) continue;
    markup.open("li");
    markup.open("svg", {{"width", "14"}, {"height", "14"}, {"aria-hidden", "true"}});
    markup.open("g", {{"class", fmt::format("mark {}", shape.name)}});
    markup.empty("path",
                 {{"transform", std::string(shape.in_legend)}, {"d", std::string(shape.path)}});
    markup.close().close().text(shape.meaning).close();
  }
  markup.close();
}

}  // namespace outlast::report
