#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace outlast::job {

// A regular expression that is looked for in lines that strangers write: RE2, whose search takes
// time in proportion to the line, whatever the expression. Named groups are written (?<name>…) or
// (?P<name>…). Immutable, cheap to copy; thread-safe.
class LinePattern {
 public:
  static constexpr std::size_t kLengthMax = 1000;  // of the expression
  static constexpr std::size_t kNamesMax = 16;

  // kInvalidArgument if it cannot be used, with why as the end of a sentence: "missing ): (a".
  static Result<LinePattern> compile(std::string_view expression);

  // The names of the groups, in the order in which they begin.
  const std::vector<std::string>& names() const { return names_; }

  // What each named group took, by its place in names(); nullopt for those that took no part.
  using Groups = std::vector<std::optional<std::string_view>>;
  std::optional<Groups> find(std::string_view line) const;

 private:
  LinePattern() = default;

  std::shared_ptr<const re2::RE2> regex_ = {};  // shared by all copies; it has no copies of its own
  std::vector<std::string> names_ = {};
  std::vector<std::size_t> numbers_ = {};  // of the named groups among all
};

}  // namespace outlast::job
