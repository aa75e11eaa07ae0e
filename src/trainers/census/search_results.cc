#include "trainers/census/search_results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/result.h"
#include "trainers/census/search_space.h"
#include "trainers/metrics.h"

namespace outlast::trainers {
namespace {

// So that a snapshot of another search is read, and refused for what it is, and not for its length.
constexpr std::size_t kConfigurationsLeast = 4096;
constexpr std::size_t kDigitsMax = 11;  // of a count, with what follows it

}  // namespace

SearchResults::SearchResults(Plan plan) : plan_(std::move(plan)), correct_(plan_.configurations) {
  configurations_.reserve(plan_.configurations);
  for (std::uint64_t number = 0; number < plan_.configurations; ++number) {
    configurations_.push_back(draw_configuration({.seed = plan_.seed, .number = number}));
  }
}

std::vector<bool> SearchResults::missing() const {
  std::vector<bool> missing;
  missing.reserve(correct_.size());
  for (const std::vector<std::uint32_t>& counts : correct_) missing.push_back(counts.empty());
  return missing;
}

void SearchResults::set(std::size_t number, std::vector<std::uint32_t> correct) {
  OUTLAST_CHECK(correct_[number].empty() && correct.size() == plan_.people.size(),
                "configuration {} was judged twice, or in {} folds", number, correct.size());
  correct_[number] = std::move(correct);
  ++done_;
}

std::uint64_t SearchResults::total(std::size_t number) const {
  return std::accumulate(correct_[number].begin(), correct_[number].end(), std::uint64_t{0});
}

double SearchResults::accuracy(std::size_t number) const {
  const std::size_t people =
      std::accumulate(plan_.people.begin(), plan_.people.end(), std::size_t{0});
  return static_cast<double>(total(number)) / static_cast<double>(people);
}

std::optional<std::size_t> SearchResults::best() const {
  std::optional<std::size_t> best;
  for (std::size_t number = 0; number < correct_.size(); ++number) {
    if (correct_[number].empty()) continue;
    if (!best || total(number) > total(*best)) best = number;
  }
  return best;
}

std::size_t SearchResults::metrics_lines() const {
  const auto gap = std::find_if(correct_.begin(), correct_.end(),
                                [](const auto& counts) { return counts.empty(); });
  return static_cast<std::size_t>(gap - correct_.begin());
}

std::string SearchResults::metrics_text() const {
  std::string text;
  double best = 0;
  for (std::size_t number = 0; number < metrics_lines(); ++number) {
    best = std::max(best, accuracy(number));
    const Configuration& one = configurations_[number];
    text += canonical_json(Json{{"configuration", number},
                                {"learning_rate", one.boosting().learning_rate},
                                {"depth", one.depth},
                                {"min_split", one.min_split},
                                {"min_leaf", one.min_leaf},
                                {"trees", one.trees},
                                {"correct", correct_[number]},
                                {"accuracy", accuracy(number)},
                                {"best_accuracy", best}}) +
            "\n";
  }
  return text;
}

Metrics SearchResults::metrics() const {
  Metrics metrics;
  double best = 0;
  for (std::size_t number = 0; number < metrics_lines(); ++number) {
    best = std::max(best, accuracy(number));
    metrics.add({.step = number + 1,
                 .epoch = static_cast<double>(number + 1),
                 .accuracy = best,
                 .test_accuracy = accuracy(number)});
  }
  return metrics;
}

std::string SearchResults::text() const {
  std::string text;
  for (std::size_t number = 0; number < correct_.size(); ++number) {
    if (correct_[number].empty()) continue;
    text += std::to_string(number);
    for (const std::uint32_t count : correct_[number]) text += fmt::format(" {}", count);
    text += '\n';
  }
  return text;
}

std::size_t SearchResults::bytes_max() const {
  return std::max(plan_.configurations, kConfigurationsLeast) *
         (2 * kDigitsMax + plan_.people.size() * kDigitsMax);
}

Result<void> SearchResults::restore(std::string_view text) {
  SearchResults read(plan_);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::uint64_t> numbers;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    bool is_right = true;
    while (is_right && !line.empty()) {
      const std::size_t blank = std::min(line.find(' '), line.size());
      const auto number = parse_number<std::uint64_t>(line.substr(0, blank));
      is_right = number.has_value();
      numbers.push_back(number.value_or(0));
      line.remove_prefix(std::min(blank + 1, line.size()));
    }
    is_right = is_right && numbers.size() == plan_.people.size() + 1 &&
               numbers[0] < plan_.configurations && read.correct_[numbers[0]].empty();
    std::vector<std::uint32_t> counts;
    for (std::size_t fold = 0; is_right && fold < plan_.people.size(); ++fold) {
      is_right = numbers[fold + 1] <= plan_.people[fold];
      counts.push_back(static_cast<std::uint32_t>(numbers[fold + 1]));
    }
    if (!is_right) {
      return Error(ErrorCode::kCorrupt,
                   "the saved results of the search do not fit it: give another --job-dir, or the "
                   "data that it began with");
    }
    read.set(numbers[0], std::move(counts));
  }
  *this = std::move(read);
  return {};
}

}  // namespace outlast::trainers
