#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/line_pattern.h"

// The syntax of a LinePattern. Part of it; not for use elsewhere.
namespace outlast::job {

// A part of the expression.
struct PatternNode {
  static constexpr std::uint32_t kUnlimited = UINT32_MAX;
  enum class Kind { kAssert, kBytes, kSequence, kChoice, kRepeat, kNamed };
  Kind kind = Kind::kSequence;
  LinePattern::Instruction::Op assertion = LinePattern::Instruction::Op::kLineBegin;  // kAssert
  std::bitset<256> bytes = {};                                                        // kBytes
  std::vector<PatternNode> children = {};  // the others; one for kRepeat and kNamed
  std::uint32_t min = 0;                   // kRepeat
  std::uint32_t max = 0;
  bool lazy = false;
  std::uint32_t name = 0;  // kNamed
};

struct PatternTree {
  PatternNode root = {};
  std::vector<std::string> names = {};  // of the groups
};

// The same errors as LinePattern::compile().
Result<PatternTree> parse_pattern(std::string_view expression);

}  // namespace outlast::job
