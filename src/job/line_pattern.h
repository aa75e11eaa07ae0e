#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outlast::job {

// A regular expression that is looked for in lines that strangers write. All its threads of
// matching go through the line side by side (Thompson's and Pike's way), so that no expression and
// no line can make it slow: a search takes time in proportion to the line times the expression.
//
// The language is what ECMAScript and Python have in common, over bytes: . [a-z] [^\s] \d \w \s \b
// ^ $ | * + ? {2,5}, each of the last four also lazy, ( ) (?: ) and the named groups (?<name> ) and
// (?P<name> ). A search is for the leftmost match, and among those for the one that a backtracking
// search would find first. Not in it, because they cannot be bounded: looking ahead and back, and
// back-references.
//
// Immutable, a value; thread-safe.
class LinePattern {
 public:
  static constexpr std::size_t kLengthMax = 1000;   // of the expression
  static constexpr std::size_t kProgramMax = 1000;  // of what it becomes; {50} makes it long
  static constexpr std::size_t kNamesMax = 16;

  // kInvalidArgument if it cannot be used, with why as the end of a sentence: "a '(' is not
  // closed".
  static Result<LinePattern> compile(std::string_view expression);

  // The names of the groups, in the order in which they begin.
  const std::vector<std::string>& names() const { return names_; }

  // What each named group took, by its place in names(); nullopt for those that took no part.
  using Groups = std::vector<std::optional<std::string_view>>;
  std::optional<Groups> find(std::string_view line) const;

  // One instruction; for the compiler and the search.
  struct Instruction {
    enum class Op {
      kByte,       // one of `bytes`, then the next instruction
      kSplit,      // `first` and, of lower rank, `second`
      kJump,       // `first`
      kMark,       // note the place in mark `first`, then the next
      kLineBegin,  // only there, then the next; the same for the others
      kLineEnd,
      kWordEdge,
      kNoWordEdge,
      kMatch,
    };
    Op op = Op::kMatch;
    std::bitset<256> bytes = {};
    std::uint32_t first = 0;
    std::uint32_t second = 0;
  };

 private:
  LinePattern() = default;

  std::vector<Instruction> program_ = {};
  std::vector<std::string> names_ = {};
};

}  // namespace outlast::job
