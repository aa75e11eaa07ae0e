#include "job/progress_values.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/ascii.h"
#include "job/progress_reader.h"

namespace outlast::job {
namespace {

bool is_figure(char c) {
  return c >= '0' && c <= '9';
}

// ",000" and no fourth figure.
bool starts_with_thousands(std::string_view text) {
  return text.size() >= 4 && text[0] == ',' && is_figure(text[1]) && is_figure(text[2]) &&
         is_figure(text[3]) && (text.size() == 4 || !is_figure(text[4]));
}

bool set_metric(const std::string& name, double value, Progress& progress) {
  const bool known = progress.metrics.contains(name) || progress.not_finite.contains(name);
  const std::size_t count = progress.metrics.size() + progress.not_finite.size();
  if (!known && count >= kProgressMetricsMax) return false;
  if (std::isfinite(value)) {
    progress.not_finite.erase(name);
    progress.metrics[name] = value;
  } else {
    progress.metrics.erase(name);
    progress.not_finite.insert(name);
  }
  return true;
}

}  // namespace

std::optional<double> take_progress_number(std::string_view& text) {
  double value = 0;
  const char* const begin = text.data();
  const auto [end, failure] = std::from_chars(begin, begin + text.size(), value);
  if (failure != std::errc()) return std::nullopt;
  const std::string_view written = text.substr(0, static_cast<std::size_t>(end - begin));
  text.remove_prefix(written.size());
  while (written.find_first_not_of("-0123456789") == std::string_view::npos &&
         starts_with_thousands(text)) {
    const int thousands = (text[1] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
    value = value * 1000 + (value < 0 ? -thousands : thousands);
    text.remove_prefix(4);
  }
  return value;
}

std::optional<std::uint64_t> as_step(double value) {
  constexpr double kExactMax = 9007199254740992;  // 2^53
  if (!(value >= 0 && value <= kExactMax) || std::floor(value) != value) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

bool set_progress(std::string_view name, double value, Progress& progress) {
  if (name.empty() || name.size() > kProgressNameMax) return false;
  const std::string key = ascii_lower(name);
  if (key == "step" || key == "total") {
    const auto step = as_step(value);
    if (!step) return false;
    (key == "step" ? progress.step : progress.total) = step;
    return true;
  }
  if (key == "epoch" || key == "epochs" || key == "rate") {
    if (!std::isfinite(value) || value < 0) return false;
    (key == "epoch" ? progress.epoch : key == "epochs" ? progress.epochs : progress.rate) = value;
    return true;
  }
  return set_metric(key, value, progress);
}

}  // namespace outlast::job
