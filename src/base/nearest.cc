#include "base/nearest.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace outlast {
namespace {

// Nothing longer is compared: the cost is quadratic, and no key of ours is near it.
constexpr std::size_t kLengthMax = 64;

// Damerau–Levenshtein distance (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view written, std::span<const std::string_view> words) {
  if (written.empty() || written.size() > kLengthMax) return {};
  const std::string lower = ascii_lower(written);
  std::string_view best;
  // A third of the letters may be wrong; in a word of one or two letters, one.
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view word : words) {
    const std::size_t d = distance(lower, ascii_lower(word));
    if (d < best_distance && d < word.size()) {
      best = word;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view written, std::span<const std::string_view> words) {
  const std::string_view word = nearest_word(written, words);
  return word.empty() ? std::string() : fmt::format("; did you mean '{}'?", word);
}

}  // namespace outlast
