#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainers/census/search_space.h"
#include "trainers/metrics.h"

namespace outlast::trainers {

// What a search knows: for each configuration how many people of each fold it told right, once that
// is known. Confined to its owner.
class SearchResults {
 public:
  struct Plan {
    std::uint64_t seed = 0;
    std::size_t configurations = 0;
    std::vector<std::size_t> people = {};  // of each fold
  };
  explicit SearchResults(Plan plan);

  const std::vector<Configuration>& configurations() const { return configurations_; }
  // Those that are still to be judged.
  std::vector<bool> missing() const;
  std::size_t done() const { return done_; }
  bool is_complete() const { return done_ == configurations_.size(); }

  // `correct` has a count for each fold.
  void set(std::size_t number, std::vector<std::uint32_t> correct);
  // Of all people. Only of a configuration that is judged.
  double accuracy(std::size_t number) const;
  // The one that told most people right, of equals the lowest number; none if none is judged.
  std::optional<std::size_t> best() const;

  // A line of JSON for each configuration by number, up to the first that is missing: in the end
  // the same, whoever was judged first.
  std::string metrics_text() const;
  // The same for a plot: the accuracy of each as that of a test, the best up to it as training's,
  // over how many were tried.
  Metrics metrics() const;
  std::size_t metrics_lines() const;

  // For a snapshot; at most bytes_max() long.
  std::string text() const;
  std::size_t bytes_max() const;
  // Takes what text() gave. kCorrupt for anything that cannot be, and then nothing is changed.
  Result<void> restore(std::string_view text);

 private:
  std::uint64_t total(std::size_t number) const;

  Plan plan_;
  std::vector<Configuration> configurations_;
  std::vector<std::vector<std::uint32_t>> correct_;  // empty: not judged yet
  std::size_t done_ = 0;
};

}  // namespace outlast::trainers
