#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace outlast {

// A name that cannot be mistaken for another kind of name. `Tag` is any type; it is never
// completed.
template <typename Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend auto operator<=>(const Name&, const Name&) = default;

 private:
  std::string text_;
};

// A counter that cannot be mistaken for another kind of number.
template <typename Tag>
struct Ordinal {
  std::uint64_t value = 0;
  friend auto operator<=>(const Ordinal&, const Ordinal&) = default;
  constexpr Ordinal next() const { return {value + 1}; }
};

// A job keeps its name for life; each attempt at it has a higher epoch than the one before.
using JobName = Name<struct JobNameTag>;
using Epoch = Ordinal<struct EpochTag>;

}  // namespace outlast
