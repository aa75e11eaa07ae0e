#pragma once

#include <charconv>
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

}  // namespace outlast
