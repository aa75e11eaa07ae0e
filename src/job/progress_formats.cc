#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "job/progress_reader.h"
#include "job/progress_values.h"

// How known programs print where they are. One scanner takes them all, because they share their
// pieces: a name and a number ("loss: 0.5", "Epoch [3/70]"), a bar's count (" 450/1000 [") and a
// rate ("45.0it/s").
namespace outlast::job {
namespace {

// Names of a step.
constexpr std::array<std::string_view, 3> kStepNames = {"iter", "iteration", "global_step"};
// Names that are believed without a ':' or '=' behind them, besides those of losses.
constexpr std::array<std::string_view, 8> kPlainNames = {"epoch",    "step", "acc", "acc@1",
                                                         "accuracy", "lr",   "ppl", "perplexity"};
// Printed beside the metrics, and none.
constexpr std::array<std::string_view, 8> kNoMetrics = {"v_num", "eta",    "time", "data",
                                                        "total", "epochs", "rate", "cuda"};
// In the titles of bars that are not about training.
constexpr std::array<std::string_view, 12> kOtherTitles = {
    "download", "loading", "valid",   "eval", "test",  "predict",
    "sanity",   "token",   "extract", "map",  "fetch", "generating"};

struct RateUnit {
  std::string_view text;
  double seconds;  // that a step takes, at 1; 0: it is the steps a second
};
constexpr std::array<RateUnit, 8> kRateUnits = {{{"it/s", 0},
                                                 {"step/s", 0},
                                                 {"steps/s", 0},
                                                 {"s/it", 1},
                                                 {"us/step", 1e-6},
                                                 {"ms/step", 1e-3},
                                                 {"s/step", 1},
                                                 {"s/iter", 1}}};

bool is_number_char(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_char(char c) {
  return is_name_start(c) || is_number_char(c) || c == '/' || c == '.' || c == '@' || c == '-';
}
// Bars are drawn with block characters; their UTF-8 bytes are all above ASCII.
bool is_bar_char(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The name that set_progress() knows it by.
std::string progress_name(std::string_view written) {
  std::string name = ascii_lower(written);
  return is_one_of(name, kStepNames) ? "step" : name;
}

bool is_loss(std::string_view name) {
  return name.ends_with("loss");
}

void skip_any(std::string_view& text, std::string_view of) {
  text.remove_prefix(std::min(text.find_first_not_of(of), text.size()));
}

// Control characters become spaces, and the sequences that colour and move (ESC [ … letter) go.
std::string without_controls(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\x1B' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !is_name_start(line[i])) ++i;
    } else {
      text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return text;
}

// "450/1000" off the front of `text`.
struct Count {
  double done = 0;
  double total = 0;
};
std::optional<Count> take_count(std::string_view& text) {
  std::string_view rest = text;
  if (rest.empty() || !is_number_char(rest.front())) return std::nullopt;
  const auto done = take_progress_number(rest);
  if (!done || !rest.starts_with('/')) return std::nullopt;
  rest.remove_prefix(1);
  if (rest.empty() || !is_number_char(rest.front())) return std::nullopt;
  const auto total = take_progress_number(rest);
  if (!total || (!rest.empty() && is_name_char(rest.front()))) return std::nullopt;
  if (!as_step(*done) || !as_step(*total)) return std::nullopt;
  text = rest;
  return Count{.done = *done, .total = *total};
}

// What one line says, until it is known whether it is about progress at all.
class FormatScanner {
 public:
  FormatScanner(std::string_view line, Progress progress)
      : line_(line), found_(std::move(progress)) {}

  // Nothing unless the line is about progress.
  std::optional<Progress> scan();

 private:
  void scan_pairs();
  void take_pair(std::string_view written, std::string_view after);
  void take_bar();
  void take_rate();
  bool is_bar_of_something_else() const;

  std::string_view line_;
  Progress found_;
  std::size_t past_epoch_ = 0;  // where the count of a bar may stand
  bool about_progress_ = false;
  bool has_step_ = false;
};

// Bars of what is not training: by what stands before the percentage, or because they count bytes.
bool FormatScanner::is_bar_of_something_else() const {
  const std::size_t percent = line_.find("%|");
  if (percent == std::string_view::npos) return false;
  const std::string before = ascii_lower(line_.substr(0, percent));
  for (const std::string_view other : kOtherTitles) {
    if (before.find(other) != std::string::npos) return true;
  }
  return line_.find("B/s", percent) != std::string_view::npos;
}

void FormatScanner::scan_pairs() {
  for (std::size_t i = 0; i < line_.size();) {
    if (!is_name_start(line_[i]) && !is_number_char(line_[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < line_.size() && is_name_char(line_[end])) ++end;
    std::string_view name = line_.substr(i, end - i);
    if (is_name_start(name.front())) take_pair(name, line_.substr(end));
    i = end;
  }
}

void FormatScanner::take_pair(std::string_view written, std::string_view after) {
  const std::string name = progress_name(written);
  if (is_one_of(name, kNoMetrics) || name.size() > kProgressNameMax) return;
  skip_any(after, "'\" ");
  const bool strong = after.starts_with(':') || after.starts_with('=');
  if (!strong && !is_loss(name) && !is_one_of(name, kPlainNames)) return;
  if (strong) after.remove_prefix(1);
  skip_any(after, " [");
  constexpr std::string_view kTensor = "tensor(";
  if (after.starts_with(kTensor)) after.remove_prefix(kTensor.size());
  const bool counts = name == "step" || name == "epoch";
  std::string_view rest = after;
  if (const auto count = take_count(rest); count && counts) {
    set_progress(name, count->done, found_);
    set_progress(name == "step" ? "total" : "epochs", count->total, found_);
  } else {
    rest = after;
    const auto value = take_progress_number(rest);
    if (!value) return;
    // "1s", "0:12:34" and "3/70" are no plain numbers; "train: 9%|" is the title of a bar.
    if (!rest.empty() && (is_name_start(rest.front()) || rest.front() == '/')) return;
    if (rest.size() > 1 && rest.front() == ':' && is_number_char(rest[1])) return;
    if (rest.starts_with("%|")) return;
    if (!set_progress(name, *value, found_)) return;
  }
  has_step_ = has_step_ || name == "step";
  about_progress_ = about_progress_ || counts || is_loss(name);
  if (name == "epoch") past_epoch_ = static_cast<std::size_t>(rest.data() - line_.data());
}

// The count beside a bar: "| 450/1000 [", "32/32 [===", "━━ 450/1000", "[ 40/100]".
void FormatScanner::take_bar() {
  for (std::size_t i = past_epoch_; i < line_.size(); ++i) {
    if (!is_number_char(line_[i]) || (i > 0 && is_name_char(line_[i - 1]))) continue;
    std::string_view rest = line_.substr(i);
    const auto count = take_count(rest);
    if (!count) continue;
    const std::size_t last = i == 0 ? std::string_view::npos : line_.find_last_not_of(' ', i - 1);
    const char before = last == std::string_view::npos ? '\0' : line_[last];
    skip_any(rest, " ");
    const char after = rest.empty() ? '\0' : rest.front();
    const bool keras = before == '\0' && (after == '[' || is_bar_char(after));
    const bool in_brackets = past_epoch_ > 0 && before == '[' && (after == ']' || after == '(');
    if (!keras && !in_brackets && before != '|' && !is_bar_char(before)) continue;
    set_progress("step", count->done, found_);
    set_progress("total", count->total, found_);
    about_progress_ = true;
    return;
  }
  // A bar that does not know its end: "450it [00:10, 45.0it/s]".
  const std::size_t open = line_.find("it [");
  if (open == std::string_view::npos) return;
  std::size_t begin = open;
  while (begin > 0 && is_number_char(line_[begin - 1])) --begin;
  std::string_view digits = line_.substr(begin, open - begin);
  const auto step = take_progress_number(digits);
  if (step && set_progress("step", *step, found_)) about_progress_ = true;
}

void FormatScanner::take_rate() {
  for (const RateUnit& unit : kRateUnits) {
    const std::size_t end = line_.find(unit.text);
    if (end == std::string_view::npos || end == 0) continue;
    const std::size_t last = line_.find_last_not_of(' ', end - 1);
    if (last == std::string_view::npos) continue;
    std::size_t begin = last + 1;
    while (begin > 0 && (is_number_char(line_[begin - 1]) || line_[begin - 1] == '.')) --begin;
    std::string_view text = line_.substr(begin, last + 1 - begin);
    const auto value = take_progress_number(text);
    if (!value || *value <= 0 || !text.empty()) continue;
    set_progress("rate", unit.seconds == 0 ? *value : 1 / (*value * unit.seconds), found_);
    return;
  }
}

std::optional<Progress> FormatScanner::scan() {
  if (is_bar_of_something_else()) return std::nullopt;
  scan_pairs();
  if (!has_step_) take_bar();
  if (!about_progress_) return std::nullopt;
  take_rate();
  return std::move(found_);
}

}  // namespace

bool take_known_format(std::string_view line, Progress& progress) {
  const std::string text = without_controls(line);
  if (text.find_first_of("0123456789nN") == std::string::npos) return false;
  auto found = FormatScanner(text, progress).scan();
  if (!found) return false;
  progress = *std::move(found);
  return true;
}

}  // namespace outlast::job
