#include "job/line_syntax.h"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "job/line_pattern.h"

namespace outlast::job {
namespace {

using Op = LinePattern::Instruction::Op;
using ByteSet = std::bitset<256>;

constexpr std::size_t kDepthMax = 30;
constexpr std::uint32_t kRepeatMax = 1000;

Error refused(std::string why) {
  return {ErrorCode::kInvalidArgument, std::move(why)};
}

ByteSet range(unsigned char first, unsigned char last) {
  ByteSet set;
  for (unsigned byte = first; byte <= last; ++byte) set.set(byte);
  return set;
}

ByteSet one_byte(char c) {
  return ByteSet().set(static_cast<unsigned char>(c));
}

ByteSet digits() {
  return range('0', '9');
}
ByteSet word_bytes() {
  return range('0', '9') | range('a', 'z') | range('A', 'Z') | one_byte('_');
}
ByteSet spaces() {
  return one_byte(' ') | range('\t', '\r');
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// \d, \W, \t, \., …: what they stand for; nullopt if that is unknown.
std::optional<ByteSet> escaped(char c) {
  switch (c) {
    case 'd':
      return digits();
    case 'w':
      return word_bytes();
    case 's':
      return spaces();
    case 'D':
      return ~digits();
    case 'W':
      return ~word_bytes();
    case 'S':
      return ~spaces();
    case 't':
      return one_byte('\t');
    case 'n':
      return one_byte('\n');
    case 'r':
      return one_byte('\r');
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (is_letter(c) || is_decimal(c) || byte < 0x20 || byte >= 0x7F) return std::nullopt;
  return one_byte(c);
}

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : rest_(text) {}

  Result<PatternTree> parse() && {
    OUTLAST_TRY_ASSIGN(PatternNode root, parse_choice(0));
    if (!rest_.empty()) return refused("a ')' has no '('");
    return PatternTree{.root = std::move(root), .names = std::move(names_)};
  }

 private:
  Result<PatternNode> parse_choice(std::size_t depth);
  Result<PatternNode> parse_sequence(std::size_t depth);
  Result<PatternNode> parse_atom(std::size_t depth);
  Result<PatternNode> parse_group(std::size_t depth);
  Result<PatternNode> parse_escape();
  Result<PatternNode> parse_class();
  Result<ByteSet> parse_class_item();
  Result<std::uint32_t> parse_name();
  // The limits of a quantifier that stands here, which is taken; false if there is none.
  Result<bool> take_quantifier(PatternNode& repeat);

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  char take_char() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  std::vector<std::string> names_;
};

Result<PatternNode> PatternParser::parse_choice(std::size_t depth) {
  if (depth > kDepthMax) return refused(fmt::format("it is nested more than {} deep", kDepthMax));
  OUTLAST_TRY_ASSIGN(PatternNode first, parse_sequence(depth));
  if (!rest_.starts_with('|')) return first;
  PatternNode choice;
  choice.kind = PatternNode::Kind::kChoice;
  choice.children.push_back(std::move(first));
  while (take("|")) {
    OUTLAST_TRY_ASSIGN(PatternNode other, parse_sequence(depth));
    choice.children.push_back(std::move(other));
  }
  return choice;
}

Result<PatternNode> PatternParser::parse_sequence(std::size_t depth) {
  PatternNode sequence;
  while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
    PatternNode repeat;
    const std::string_view start = rest_;
    OUTLAST_TRY_ASSIGN(const bool dangling, take_quantifier(repeat));
    if (dangling) return refused(fmt::format("there is nothing before '{}'", start.front()));
    OUTLAST_TRY_ASSIGN(PatternNode atom, parse_atom(depth));
    OUTLAST_TRY_ASSIGN(const bool repeated, take_quantifier(repeat));
    if (repeated) {
      repeat.kind = PatternNode::Kind::kRepeat;
      repeat.children.push_back(std::move(atom));
      atom = std::move(repeat);
    }
    sequence.children.push_back(std::move(atom));
  }
  return sequence;
}

Result<bool> PatternParser::take_quantifier(PatternNode& repeat) {
  if (take("*")) {
    repeat.min = 0;
    repeat.max = PatternNode::kUnlimited;
  } else if (take("+")) {
    repeat.min = 1;
    repeat.max = PatternNode::kUnlimited;
  } else if (take("?")) {
    repeat.min = 0;
    repeat.max = 1;
  } else {
    // A '{' that is no quantifier is a character.
    const std::size_t close = rest_.find('}');
    if (!rest_.starts_with('{') || close == std::string_view::npos) return false;
    const std::string_view inside = rest_.substr(1, close - 1);
    const std::size_t comma = std::min(inside.find(','), inside.size());
    const auto min = parse_number<std::uint32_t>(inside.substr(0, comma));
    if (!min) return false;
    auto max = min;
    if (comma + 1 == inside.size()) max = PatternNode::kUnlimited;
    if (comma + 1 < inside.size()) max = parse_number<std::uint32_t>(inside.substr(comma + 1));
    if (!max) return false;
    if (*min > kRepeatMax || (*max > kRepeatMax && *max != PatternNode::kUnlimited) ||
        *min > *max) {
      return refused(fmt::format("{{{}}} is no count from 0 to {}", inside, kRepeatMax));
    }
    repeat.min = *min;
    repeat.max = *max;
    rest_.remove_prefix(close + 1);
  }
  repeat.lazy = take("?");
  return true;
}

Result<PatternNode> PatternParser::parse_atom(std::size_t depth) {
  PatternNode node;
  if (take("(")) return parse_group(depth);
  if (take("[")) return parse_class();
  if (take("\\")) return parse_escape();
  if (take("^") || rest_.starts_with('$')) {
    node.kind = PatternNode::Kind::kAssert;
    node.assertion = take("$") ? Op::kLineEnd : Op::kLineBegin;
    return node;
  }
  if (take(".")) {
    node.kind = PatternNode::Kind::kBytes;
    node.bytes.set();
    return node;
  }
  // The bytes of one character stay together, so that what repeats it repeats all of them.
  const std::size_t bytes = decode_utf8(rest_, 0).value_or(Utf8Character{}).bytes;
  for (std::size_t i = 0; i < bytes; ++i) {
    PatternNode byte;
    byte.kind = PatternNode::Kind::kBytes;
    byte.bytes = one_byte(take_char());
    node.children.push_back(std::move(byte));
  }
  return node;
}

Result<PatternNode> PatternParser::parse_group(std::size_t depth) {
  std::optional<std::uint32_t> name;
  for (const std::string_view around : {"?=", "?!", "?<=", "?<!"}) {
    if (rest_.starts_with(around)) return refused(fmt::format("({} is not supported", around));
  }
  if (take("?<") || take("?P<")) {
    OUTLAST_TRY_ASSIGN(name, parse_name());
  } else if (!take("?:") && rest_.starts_with('?')) {
    return refused("a '(?' must be (?<name>, (?P<name> or (?:");
  }
  OUTLAST_TRY_ASSIGN(PatternNode inner, parse_choice(depth + 1));
  if (!take(")")) return refused("a '(' is not closed");
  if (!name) return inner;
  PatternNode group;
  group.kind = PatternNode::Kind::kNamed;
  group.name = *name;
  group.children.push_back(std::move(inner));
  return group;
}

Result<std::uint32_t> PatternParser::parse_name() {
  const std::size_t end = rest_.find('>');
  if (end == std::string_view::npos) return refused("the name of a group ends with '>'");
  const std::string name(rest_.substr(0, end));
  constexpr std::size_t kNameMax = 64;
  const bool good = !name.empty() && name.size() <= kNameMax && !is_decimal(name.front()) &&
                    std::all_of(name.begin(), name.end(),
                                [](char c) { return is_letter(c) || is_decimal(c) || c == '_'; });
  if (!good) {
    return refused(fmt::format("{} is no name for a group: use up to {} letters, digits and '_'",
                               quote_for_message(name), kNameMax));
  }
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    return refused(fmt::format("two groups are named '{}'", name));
  }
  if (names_.size() == LinePattern::kNamesMax) {
    return refused(fmt::format("it has more than {} named groups", LinePattern::kNamesMax));
  }
  rest_.remove_prefix(end + 1);
  names_.push_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

Result<PatternNode> PatternParser::parse_escape() {
  if (rest_.empty()) return refused("it ends with '\\'");
  PatternNode node;
  const char c = take_char();
  if (c == 'b' || c == 'B') {
    node.kind = PatternNode::Kind::kAssert;
    node.assertion = c == 'b' ? Op::kWordEdge : Op::kNoWordEdge;
    return node;
  }
  if (is_decimal(c)) return refused(fmt::format("\\{} is not supported", c));
  const auto bytes = escaped(c);
  if (!bytes)
    return refused(fmt::format("{} is not known", quote_for_message(std::string{'\\', c})));
  node.kind = PatternNode::Kind::kBytes;
  node.bytes = *bytes;
  return node;
}

Result<ByteSet> PatternParser::parse_class_item() {
  const char c = take_char();
  if (static_cast<unsigned char>(c) >= 0x80) return refused("only ASCII can be in a '['");
  if (c != '\\') return one_byte(c);
  if (rest_.empty()) return refused("it ends with '\\'");
  const char name = take_char();
  const auto bytes = escaped(name);
  if (!bytes) {
    return refused(
        fmt::format("{} is not known in a '['", quote_for_message(std::string{'\\', name})));
  }
  return *bytes;
}

Result<PatternNode> PatternParser::parse_class() {
  PatternNode node;
  node.kind = PatternNode::Kind::kBytes;
  const bool others = take("^");
  while (!rest_.empty() && rest_.front() != ']') {
    const char first = rest_.front();
    OUTLAST_TRY_ASSIGN(ByteSet bytes, parse_class_item());
    const bool is_range = rest_.size() >= 2 && rest_.front() == '-' && rest_[1] != ']';
    if (is_range && first != '\\') {
      take("-");
      const char last = take_char();
      if (last == '\\' || static_cast<unsigned char>(last) >= 0x80 || last < first) {
        return refused(fmt::format("{} is no range of characters",
                                   quote_for_message(std::string{first, '-', last})));
      }
      bytes = range(static_cast<unsigned char>(first), static_cast<unsigned char>(last));
    }
    node.bytes |= bytes;
  }
  if (!take("]")) return refused("a '[' is not closed");
  if (node.bytes.none()) return refused("there is nothing in a '[]'");
  if (others) node.bytes.flip();
  return node;
}

}  // namespace

Result<PatternTree> parse_pattern(std::string_view expression) {
  if (expression.size() > LinePattern::kLengthMax) {
    return refused(fmt::format("it is longer than {} characters", LinePattern::kLengthMax));
  }
  return PatternParser(expression).parse();
}

}  // namespace outlast::job
