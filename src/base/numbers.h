#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace outlast {

// The number that the whole text is, or nullopt: when it is empty, has anything but digits (blanks,
// '+', "0x"; '-' too, unless Number is signed) or is beyond what Number can hold.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, number, base);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The finite number that the whole text is in decimal notation ("0.001", "-2", "1e-4"), or nullopt:
// when it has anything else in it (blanks, '+', "0x", "inf", "nan") or is beyond what a double can
// hold, towards zero, too. Takes the nearest double, whatever the locale.
inline std::optional<double> parse_decimal(std::string_view text) {
  double number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, number);
  if (failure != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace outlast
