#include "trainers/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainers/metrics.h"

namespace outlast::trainers {
namespace {

constexpr double kWidth = 720;
constexpr double kPanelHeight = 220;
constexpr double kLeft = 56;
constexpr double kRight = 16;
constexpr double kTop = 44;
constexpr double kGap = 48;  // below each panel, for its numbers

using Member = std::optional<double> MetricsPoint::*;

struct Curve {
  Member member = nullptr;
  std::string_view name = {};
  std::string_view colour = {};
  bool dots = false;
  bool line = true;
};

struct Panel {
  std::string_view name = {};
  double top = 0;
  std::array<Curve, 2> curves = {};
};

struct Span {
  double low = 0;
  double high = 1;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// A round distance between some five lines across the span.
double tick_distance(const Span& span) {
  const double wished = std::max((span.high - span.low) / 5, 1e-12);
  const double power = std::pow(10, std::floor(std::log10(wished)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= wished) return power * factor;
  }
  return power * 10;
}

Span values_of(const Metrics& metrics, const Panel& panel) {
  std::optional<Span> span;
  for (const MetricsPoint& point : metrics.points()) {
    for (const Curve& curve : panel.curves) {
      const std::optional<double>& value = point.*curve.member;
      if (!value || !std::isfinite(*value)) continue;
      if (!span) span = Span{.low = *value, .high = *value};
      span->low = std::min(span->low, *value);
      span->high = std::max(span->high, *value);
    }
  }
  if (!span) return {};
  const double distance = tick_distance(*span);
  return {.low = std::floor(span->low / distance) * distance,
          .high = std::max(std::ceil(span->high / distance), 1 + std::floor(span->low / distance)) *
                  distance};
}

bool has_values(const Metrics& metrics, const Panel& panel) {
  return std::any_of(metrics.points().begin(), metrics.points().end(), [&](const auto& point) {
    return std::any_of(panel.curves.begin(), panel.curves.end(),
                       [&](const Curve& curve) { return (point.*curve.member).has_value(); });
  });
}

class Drawing {
 public:
  Drawing(const Metrics& metrics, const Panel& panel, const PlotWords& words, double epochs)
      : metrics_(metrics),
        panel_(panel),
        words_(words),
        epochs_(epochs),
        span_(values_of(metrics, panel)) {}

  std::string svg() const {
    std::string text = grid();
    double legend = kLeft;
    for (const Curve& curve : panel_.curves) {
      text += line(curve);
      text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"{}\">{}, {}</text>\n", legend,
                          panel_.top - 8, curve.colour, panel_.name, escaped(curve.name));
      legend += 150;
    }
    return text;
  }

 private:
  double x(double epoch) const { return kLeft + epoch / epochs_ * (kWidth - kLeft - kRight); }
  double y(double value) const {
    return panel_.top + (span_.high - value) / (span_.high - span_.low) * kPanelHeight;
  }

  std::string grid() const {
    std::string text;
    const double distance = tick_distance(span_);
    for (double value = span_.low; value <= span_.high + distance / 2; value += distance) {
      text += fmt::format(
          "<path d=\"M{:.0f} {:.1f}H{:.0f}\" stroke=\"#ddd\"/><text x=\"{:.0f}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{:.3g}</text>\n",
          kLeft, y(value), kWidth - kRight, kLeft - 6, y(value) + 4, value);
    }
    const double step = tick_distance({.low = 0, .high = epochs_});
    for (double epoch = 0; epoch <= epochs_ * 1.0001; epoch += step) {
      text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:.3g}</text>\n",
                          x(epoch), panel_.top + kPanelHeight + 16, epoch);
    }
    return text + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n",
                              kWidth - kRight, panel_.top + kPanelHeight + 30,
                              escaped(words_.axis));
  }

  std::string line(const Curve& curve) const {
    std::string path;
    std::string dots;
    for (const MetricsPoint& point : metrics_.points()) {
      const std::optional<double>& value = point.*curve.member;
      if (!value || !std::isfinite(*value)) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.epoch), y(*value));
      if (curve.dots) {
        dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                            x(point.epoch), y(*value), curve.colour);
      }
    }
    if (path.empty() || !curve.line) return dots;
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n{}",
                       path, curve.colour, dots);
  }

  const Metrics& metrics_;
  const Panel& panel_;
  const PlotWords& words_;
  double epochs_;
  Span span_;
};

}  // namespace

std::string plot_svg(const Metrics& metrics, const PlotWords& words) {
  const auto panel = [&](std::string_view name, Member training, Member test) {
    return Panel{.name = name,
                 .curves = {Curve{training, words.training, "#1f77b4"},
                            Curve{test, words.test, "#d62728", true, !words.test_is_dots}}};
  };
  std::vector<Panel> panels;
  for (Panel& one : std::array<Panel, 2>{
           panel("loss", &MetricsPoint::loss, &MetricsPoint::test_loss),
           panel("accuracy", &MetricsPoint::accuracy, &MetricsPoint::test_accuracy)}) {
    if (!has_values(metrics, one)) continue;
    one.top = kTop + 16 + static_cast<double>(panels.size()) * (kPanelHeight + kGap);
    panels.push_back(one);
  }
  double epochs = 0;
  for (const MetricsPoint& point : metrics.points()) epochs = std::max(epochs, point.epoch);
  if (epochs <= 0) epochs = 1;
  const double height = kTop + static_cast<double>(panels.size()) * (kPanelHeight + kGap) + 8;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"{:.0f}\" y=\"24\" font-size=\"15\">{}</text>\n",
      kWidth, height, kLeft, escaped(words.title));
  for (const Panel& one : panels) text += Drawing(metrics, one, words, epochs).svg();
  return text + "</svg>\n";
}

}  // namespace outlast::trainers
