#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "job/line_pattern.h"

namespace outlast::job {

// Where the trainer is, as its output says. Each value is the newest that was said; what was never
// said is not set.
struct Progress {
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> total = {};  // steps: of the epoch or of the whole, as it counts
  std::optional<double> epoch = {};
  std::optional<double> epochs = {};           // of how many
  std::optional<double> rate = {};             // steps a second
  std::map<std::string, double> metrics = {};  // "loss" and others, in lower case; finite
  std::set<std::string> not_finite = {};       // metrics whose newest value is nan or infinite
  friend bool operator==(const Progress&, const Progress&) = default;
};

// The bounds on what strangers' output can make this use.
inline constexpr std::size_t kProgressLineMax = 4096;  // the rest of a longer line is not looked at
inline constexpr std::size_t kProgressMetricsMax = 64;
inline constexpr std::size_t kProgressNameMax = 64;

// For `progress: {regex: …}`. Refuses, besides what LinePattern does, one without a named group.
Result<LinePattern> compile_progress_regex(std::string_view expression);

// Takes what one line says by the formats that are known: tqdm, Lightning, Keras, the dictionaries
// of Hugging Face, "Epoch: [3][ 40/100] Loss 1.2 (1.3)", "epoch 3 step 400 loss 0.12" and their
// like. False if the line says nothing. Bars of downloads, of evaluations and their like are not
// taken.
bool take_known_format(std::string_view line, Progress& progress);

// Reads a trainer's output as it comes, in pieces of any size. A line ends with a line feed or a
// carriage return: bars overwrite themselves. Confined to its owner.
class ProgressReader {
 public:
  // Without a regex: by the known formats.
  explicit ProgressReader(std::optional<LinePattern> regex = {});

  void feed(std::string_view piece);
  const Progress& latest() const { return latest_; }
  // How many lines said something: whether latest() is news.
  std::uint64_t updates() const { return updates_; }

 private:
  void end_line();

  std::optional<LinePattern> regex_;
  std::string line_;  // so far; at most kProgressLineMax
  Progress latest_;
  std::uint64_t updates_ = 0;
};

}  // namespace outlast::job
