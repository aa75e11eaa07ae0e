#include "trainer_files/name_pattern.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/numbers.h"

namespace outlast::trainer_files {
namespace {

const std::vector<std::string_view>& temporary_names() {
  static const std::vector<std::string_view> names = {
      "tmp*",   ".tmp*",     "*.tmp*",  "*-tmp",        "*_tmp",
      "*_temp", "*.temp",    "*-tmp.*", "*_tmp.*",      "*.orbax-checkpoint-tmp*",
      "*.part", "*.partial", "*.swp",   "*.incomplete", "*.tempstate*",
      "*.lock", "*~",        ".~*",
  };
  return names;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

// How many characters at the beginning are a number. A full stop belongs to it only before a digit:
// "0.12.ckpt" begins with 0.12.
std::size_t count_decimal(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t before = count_digits(text.substr(at));
  if (before == 0) return 0;
  at += before;
  if (at < text.size() && text[at] == '.') {
    const std::size_t after = count_digits(text.substr(at + 1));
    if (after > 0) at += 1 + after;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const bool has_sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+');
    const std::size_t exponent_at = std::min(text.size(), at + (has_sign ? 2 : 1));
    const std::size_t exponent = count_digits(text.substr(exponent_at));
    if (exponent > 0) at = exponent_at + exponent;
  }
  return at;
}

std::optional<double> parse_decimal(std::string_view text) {
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_count(std::string_view key) {
  return key == "step" || key == "epoch" || key == "global_step";
}

// False if the number is too large to be one.
bool note_fact(std::string_view key, std::string_view text, NameFacts& facts) {
  if (key.empty()) return true;
  if (is_count(key)) {
    const auto number = parse_number<std::uint64_t>(text);
    (key == "epoch" ? facts.epoch : facts.step) = number;
    return number.has_value();
  }
  const auto number = parse_decimal(text);
  if (number) facts.metrics[std::string(key)] = *number;
  return number.has_value();
}

bool match_rest(std::string_view pattern, std::string_view name, NameFacts& facts);

bool match_any(std::string_view pattern, std::string_view name, std::string_view not_in_it,
               std::size_t length_min, NameFacts& facts) {
  const std::size_t length_max = std::min(name.find_first_of(not_in_it), name.size());
  for (std::size_t length = length_min; length <= length_max; ++length) {
    if (match_rest(pattern, name.substr(length), facts)) return true;
  }
  return false;
}

bool match_number(std::string_view key, std::string_view pattern, std::string_view name,
                  NameFacts& facts) {
  const std::size_t length = is_count(key) ? count_digits(name) : count_decimal(name);
  if (length == 0) return false;
  NameFacts noted = facts;
  if (!note_fact(key, name.substr(0, length), noted) ||
      !match_rest(pattern, name.substr(length), noted)) {
    return false;
  }
  facts = std::move(noted);
  return true;
}

bool match_rest(std::string_view pattern, std::string_view name, NameFacts& facts) {
  if (pattern.empty()) return name.empty();
  if (pattern.starts_with("{*}")) return match_any(pattern.substr(3), name, "/.", 1, facts);
  if (pattern.starts_with('*')) return match_any(pattern.substr(1), name, "/", 0, facts);
  if (pattern.starts_with('{')) {
    const std::size_t end = pattern.find('}');
    return match_number(pattern.substr(1, end - 1), pattern.substr(end + 1), name, facts);
  }
  return !name.empty() && name.front() == pattern.front() &&
         match_rest(pattern.substr(1), name.substr(1), facts);
}

// What follows the last placeholder or '*'. Most names already differ there.
std::string_view literal_end(std::string_view pattern) {
  const std::size_t last = pattern.find_last_of("*}");
  return last == std::string_view::npos ? pattern : pattern.substr(last + 1);
}

bool is_key_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

template <typename T>
void take_larger(const std::optional<T>& other, std::optional<T>& mine) {
  if (other && (!mine || *other > *mine)) mine = other;
}

}  // namespace

std::optional<NameFacts> match_name(std::string_view pattern, std::string_view name) {
  if (!name.ends_with(literal_end(pattern))) return std::nullopt;
  NameFacts facts;
  if (!match_rest(pattern, name, facts)) return std::nullopt;
  return facts;
}

NamePatterns::NamePatterns(std::vector<std::string_view> patterns)
    : patterns_(std::move(patterns)) {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    const std::string_view end = literal_end(patterns_[i]);
    for (std::size_t c = 0; c < by_last_character_.size(); ++c) {
      if (end.empty() || static_cast<unsigned char>(end.back()) == c) {
        by_last_character_[c].push_back(i);
      }
    }
  }
}

const std::vector<std::size_t>& NamePatterns::candidates(std::string_view name) const {
  // An empty name fits only patterns with an empty end, which are in every row.
  return by_last_character_[name.empty() ? 0 : static_cast<unsigned char>(name.back())];
}

std::optional<NamePatterns::Match> NamePatterns::first_match(std::string_view name) const {
  for (const std::size_t i : candidates(name)) {
    if (auto facts = match_name(patterns_[i], name)) return Match{i, std::move(*facts)};
  }
  return std::nullopt;
}

std::vector<std::size_t> NamePatterns::all_matches(std::string_view name) const {
  std::vector<std::size_t> matches;
  for (const std::size_t i : candidates(name)) {
    if (match_name(patterns_[i], name)) matches.push_back(i);
  }
  return matches;
}

NameFacts facts_in_name(std::string_view name) {
  NameFacts facts;
  for (std::size_t at = name.find('='); at != std::string_view::npos; at = name.find('=', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_key_char(name[begin - 1])) --begin;
    const std::string_view key = name.substr(begin, at - begin);
    const std::string_view rest = name.substr(at + 1);
    const std::size_t length = is_count(key) ? count_digits(rest) : count_decimal(rest);
    if (length > 0) note_fact(key, rest.substr(0, length), facts);
  }
  return facts;
}

void merge_facts(const NameFacts& other, NameFacts& facts) {
  take_larger(other.step, facts.step);
  take_larger(other.epoch, facts.epoch);
  facts.metrics.insert(other.metrics.begin(), other.metrics.end());
}

bool is_temporary_name(std::string_view name) {
  static const NamePatterns patterns(temporary_names());
  return patterns.first_match(name).has_value();
}

}  // namespace outlast::trainer_files
