#include "report/timeline_svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drill/report.h"
#include "report/axis.h"
#include "report/figures.h"
#include "report/life_bars.h"
#include "report/markup.h"
#include "report/timeline_shapes.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

// Pixels. Many lives get low lanes: fifty fit on a screen and a half.
struct LaneSizes {
  double lane = 40;
  double bar_top = 11;
  double bar = 12;
  double mark_scale = 1;
  bool has_steps = true;  // room for the step under each commit
};

LaneSizes sizes_for(std::size_t lives) {
  if (lives <= 8) return {};
  if (lives <= 20) {
    return {.lane = 26, .bar_top = 9, .bar = 11, .mark_scale = 0.9, .has_steps = false};
  }
  return {.lane = 17, .bar_top = 6, .bar = 8, .mark_scale = 0.7, .has_steps = false};
}

constexpr double kHeading = 26;      // the line above a run's lanes
constexpr double kBetweenRuns = 10;  // and the gap before the second one
constexpr double kAxis = 26;
constexpr double kGutter = 30;  // left of the plot, for numbers; the style's padding
constexpr int kTicksMax = 11;

class Timeline {
 public:
  Timeline(Markup& markup, const drill::Report& report) : markup_(markup), report_(report) {
    total_ = std::max(total_, report.disturbed.seconds);
    if (report.undisturbed) total_ = std::max(total_, report.undisturbed->seconds);
    const auto reach = [this](const drill::Run& run) {
      for (const drill::Life& life : run.lives) total_ = std::max(total_, life.ended);
    };
    reach(report.disturbed);
    if (report.undisturbed) reach(*report.undisturbed);
  }

  void write() {
    const LaneSizes sizes = sizes_for(report_.disturbed.lives.size());
    const double lanes = static_cast<double>(report_.disturbed.lives.size()) * sizes.lane;
    const double alone = report_.undisturbed ? kHeading + LaneSizes{}.lane + kBetweenRuns : 0;
    const double height = alone + kHeading + lanes + kAxis;
    markup_.open("svg", {{"class", "timeline"},
                         {"width", "100%"},
                         {"height", coordinate(height)},
                         {"role", "img"},
                         {"aria-labelledby", "timeline-title timeline-description"}});
    markup_.leaf("title", {{"id", "timeline-title"}}, "Timeline of the drill");
    markup_.leaf("desc", {{"id", "timeline-description"}}, description());
    write_shapes(sizes.mark_scale);
    write_axis(height);
    if (report_.undisturbed) {
      write_heading("Undisturbed", report_.undisturbed->seconds);
      write_undisturbed(*report_.undisturbed);
      top_ += kBetweenRuns;
    }
    write_heading(disturbed_heading(), report_.disturbed.seconds);
    for (const drill::Life& life : report_.disturbed.lives) write_life(life, sizes);
    markup_.close();
  }

 private:
  double share(double seconds) const {
    return total_ > 0 ? std::clamp(seconds / total_, 0.0, 1.0) : 0;
  }
  std::string at(double seconds) const { return percent(share(seconds)); }

  std::string disturbed_heading() const {
    const std::size_t preemptions = figures_of(report_).preemptions;
    return "With " + count_text(preemptions, "preemption");
  }

  std::string description() const {
    std::string text = fmt::format("{} over {}, one lane each; the table below has the numbers.",
                                   count_text(report_.disturbed.lives.size(), "machine"),
                                   seconds_text(report_.disturbed.seconds));
    if (report_.undisturbed) {
      text += fmt::format(" Above them the undisturbed run, {}.",
                          seconds_text(report_.undisturbed->seconds));
    }
    return text;
  }

  // Whether the commits of a life would hide its bars on a narrow screen.
  bool is_crowded(const drill::Run& run) const {
    constexpr double kRoomEach = 9;  // pixels
    return std::any_of(run.lives.begin(), run.lives.end(), [this](const drill::Life& life) {
      const double room = (share(life.ended) - share(life.began)) * kNarrowPlot;
      return room < kRoomEach * static_cast<double>(life.saves.size());
    });
  }

  void write_shapes(double scale) {
    const bool is_slim =
        is_crowded(report_.disturbed) || (report_.undisturbed && is_crowded(*report_.undisturbed));
    markup_.open("defs");
    for (const Shape& shape : kShapes) {
      const double width = is_slim && shape.name == "commit" ? 0.4 : scale;
      markup_.empty(
          "path", {{"id", fmt::format("mark-{}", shape.name)},
                   {"transform", fmt::format("scale({} {})", coordinate(width), coordinate(scale))},
                   {"d", std::string(shape.path)}});
    }
    markup_.close();
  }

  void write_axis(double height) {
    markup_.open("g", {{"class", "axis"}});
    const double bottom = height - kAxis + 4;
    for (const Tick& tick : axis_ticks(total_, kTicksMax)) {
      const std::string x = at(tick.at);
      markup_.open("g", {{"class", tick.is_major ? "tick" : "tick wide"}});
      markup_.empty("line", {{"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", coordinate(bottom)}});
      markup_.leaf("text", {{"x", x}, {"y", coordinate(bottom + 15)}}, tick.text);
      markup_.close();
    }
    markup_.close();
  }

  void write_heading(std::string_view name, double seconds) {
    markup_.open(
        "text",
        {{"class", "run"}, {"x", coordinate(-kGutter)}, {"y", coordinate(top_ + kHeading - 10)}});
    markup_.leaf("tspan", {{"class", "name"}}, name);
    markup_.text(" · " + seconds_text(seconds)).close();
    top_ += kHeading;
  }

  void write_undisturbed(const drill::Run& run) {
    const LaneSizes sizes;
    markup_.open("g", {{"class", "reference"}});
    if (run.lives.empty()) {
      write_bar({BarKind::kTraining, 0, run.seconds, "Took " + seconds_text(run.seconds)}, sizes);
    }
    for (const drill::Life& life : run.lives) write_content(life, sizes);
    markup_.close();
    top_ += sizes.lane;
  }

  void write_life(const drill::Life& life, const LaneSizes& sizes) {
    markup_.open("g", {{"class", "lane"}, {"data-life", std::to_string(life.number)}});
    markup_.leaf("text",
                 {{"class", "number"},
                  {"x", "-10"},
                  {"y", coordinate(top_ + sizes.bar_top + sizes.bar / 2)}},
                 std::to_string(life.number));
    write_content(life, sizes);
    write_story(life, sizes);
    markup_.close();
    top_ += sizes.lane;
  }

  void write_content(const drill::Life& life, const LaneSizes& sizes) {
    for (const Bar& bar : bars_of(life)) write_bar(bar, sizes);
    for (const drill::Injection& injection : life.injections) write_injection(injection, sizes);
    write_saves(life, sizes);
    if (life.outcome == "done") {
      write_mark("done", life.left.value_or(life.ended), top_ + sizes.bar_top + sizes.bar / 2,
                 "Done at " + exact_seconds_text(life.left.value_or(life.ended)));
    }
  }

  void write_bar(const Bar& bar, const LaneSizes& sizes) {
    markup_.open("g", {{"class", "bar " + std::string(class_of(bar.kind))}});
    markup_.leaf("title", {}, bar.title);
    markup_.empty("rect", {{"x", at(bar.from)},
                           {"y", coordinate(top_ + sizes.bar_top)},
                           {"width", percent(share(bar.to) - share(bar.from))},
                           {"height", coordinate(sizes.bar)}});
    markup_.close();
  }

  void write_mark(std::string_view name, double seconds, double y, std::string_view title) {
    markup_.open("g", {{"class", fmt::format("mark {}", name)}});
    markup_.leaf("title", {}, title);
    markup_.empty(
        "use", {{"href", fmt::format("#mark-{}", name)}, {"x", at(seconds)}, {"y", coordinate(y)}});
    markup_.close();
  }

  // Heard, asked: a line across the bar.
  void write_moment(std::string_view name, const std::optional<double>& seconds,
                    const drill::Injection& injection, const LaneSizes& sizes) {
    if (!seconds) return;
    markup_.open("g", {{"class", fmt::format("moment {}", name)}});
    markup_.leaf("title", {}, title_of(injection));
    markup_.empty("line", {{"x1", at(*seconds)},
                           {"x2", at(*seconds)},
                           {"y1", coordinate(top_ + sizes.bar_top)},
                           {"y2", coordinate(top_ + sizes.bar_top + sizes.bar)}});
    markup_.close();
  }

  void write_injection(const drill::Injection& injection, const LaneSizes& sizes) {
    if (injection.trouble == drill::Trouble::kNone) return;
    if (!is_said(injection.trouble)) {
      write_mark("killed", injection.at, top_ + sizes.bar_top + sizes.bar / 2, title_of(injection));
      return;
    }
    write_moment("heard", injection.heard, injection, sizes);
    write_moment("asked", injection.asked, injection, sizes);
    write_mark("notice", injection.at, top_ + sizes.bar_top - 1, title_of(injection));
  }

  void write_saves(const drill::Life& life, const LaneSizes& sizes) {
    for (const drill::Save& save : life.saves) {
      write_mark("commit", save.at, top_ + sizes.bar_top + sizes.bar / 2, title_of(save));
    }
    if (sizes.has_steps) write_steps(life, sizes);
  }

  // Under the commits, from the last one back as far as they have room: the last is what counts.
  void write_steps(const drill::Life& life, const LaneSizes& sizes) {
    double free_to = 2;  // a share of the width
    for (auto save = life.saves.rbegin(); save != life.saves.rend(); ++save) {
      const std::optional<std::uint64_t> step = save->step;
      if (!step) continue;
      const std::string text = std::to_string(*step);
      const double half = (static_cast<double>(text.size()) * kCharacterWidth + 6) / 2 / kWidePlot;
      const double middle = share(save->at);
      if (middle + half > free_to) continue;
      free_to = middle - half;
      markup_.leaf("text",
                   {{"class", "step wide"},
                    {"x", at(save->at)},
                    {"y", coordinate(top_ + sizes.bar_top + sizes.bar + 12)}},
                   text);
    }
  }

  void write_story(const drill::Life& life, const LaneSizes& sizes) {
    const std::string story = short_story(life);
    if (story.empty()) return;
    const auto place = place_beside(share(life.began), share(life.ended), story.size());
    if (!place) return;
    const bool is_right = place->side == Side::kRight;
    // Behind the mark of what ended it.
    const bool is_marked = life.injections.empty() || !is_said(life.injections.back().trouble);
    const std::string_view right = is_marked ? "19" : "9";
    markup_.leaf("text",
                 {{"class", place->is_wide_only ? "story wide" : "story"},
                  {"x", at(is_right ? life.ended : life.began)},
                  {"y", coordinate(top_ + sizes.bar_top + sizes.bar / 2)},
                  {"dx", std::string(is_right ? right : "-7")},
                  {"text-anchor", is_right ? "start" : "end"}},
                 story);
  }

  Markup& markup_;
  const drill::Report& report_;
  double total_ = 0;  // seconds from the left to the right
  double top_ = 0;    // of what is written next
};

}  // namespace

void write_timeline(Markup& markup, const drill::Report& report) {
  Timeline(markup, report).write();
}

}  // namespace outlast::report
