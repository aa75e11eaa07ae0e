#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/line_pattern.h"

// How far a trainer is, by what it prints: which steps it did, on which machine, with what values.
namespace outlast::drill {

// What one line said.
struct StepSample {
  double at = 0;  // when it was printed
  std::optional<double> epoch = {};
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> total = {};
  std::map<std::string, double> metrics = {};
};

// Reads what a trainer prints, as it comes. Confined to its owner.
class StepReader {
 public:
  // Without a regex: by the formats that job::ProgressReader knows.
  explicit StepReader(std::optional<job::LinePattern> regex) : regex_(std::move(regex)) {}

  void feed(std::string_view piece, double at);

  // At most kSamplesMax; of more the last one is kept up to date.
  static constexpr std::size_t kSamplesMax = 200'000;
  const std::vector<StepSample>& samples() const { return samples_; }
  // The last lines, whatever they say: what somebody wants to see who asks why it ended.
  std::vector<std::string> last_words() const { return {last_lines_.begin(), last_lines_.end()}; }

 private:
  void end_line(double at);

  std::optional<job::LinePattern> regex_;
  std::string line_;
  std::vector<StepSample> samples_;
  std::deque<std::string> last_lines_;
};

// Trainers print "step 40" on other occasions, too ("resumed at step 40", "saved step 40"), and
// some count anew in each epoch. What most lines look like, of all the lives together, is what a
// step looks like.
struct StepScale {
  struct Shape {
    bool has_epoch = false;
    bool has_step = false;
    bool has_total = false;
    std::vector<std::string> metrics = {};  // their names, sorted
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };
  Shape shape = {};
  bool is_per_epoch = false;   // the steps begin again with every epoch
  std::uint64_t distance = 1;  // between two that are printed
};
// Of lives in order.
StepScale find_scale(std::span<const std::vector<StepSample>* const> lives);

struct NumberedSample {
  std::uint64_t step = 0;  // on a scale that only grows while training goes on
  const StepSample* sample = nullptr;
};
// Those that are of the scale. The samples must outlive them.
std::vector<NumberedSample> on_scale(const std::vector<StepSample>& samples,
                                     const StepScale& scale);

}  // namespace outlast::drill
