#pragma once

#include <span>
#include <string>
#include <string_view>

namespace outlast {

// The word of `words` that somebody who wrote `written` most likely meant, or "" when none is close
// enough to be worth suggesting. Counts insertions, deletions, replacements and swapped neighbours;
// case does not matter.
std::string_view nearest_word(std::string_view written, std::span<const std::string_view> words);

// "; did you mean 'deadline'?", or "": for the end of a sentence about `written`.
std::string did_you_mean(std::string_view written, std::span<const std::string_view> words);

}  // namespace outlast
