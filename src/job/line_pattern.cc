#include "job/line_pattern.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "job/line_syntax.h"

namespace outlast::job {
namespace {

using Instruction = LinePattern::Instruction;
using Op = Instruction::Op;

// Writes the program. Nothing is written beyond the limit: a short expression can stand for a huge
// one.
class PatternCompiler {
 public:
  Result<std::vector<Instruction>> compile(const PatternNode& root) && {
    emit(root);
    add({.op = Op::kMatch});
    if (overflow_) {
      return Error(ErrorCode::kInvalidArgument, "it is too large; use smaller counts");
    }
    return std::move(program_);
  }

 private:
  void emit(const PatternNode& node);
  void emit_choice(const PatternNode& node);
  void emit_repeat(const PatternNode& node);

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.size()); }
  std::uint32_t add(const Instruction& instruction) {
    overflow_ = overflow_ || program_.size() >= LinePattern::kProgramMax;
    if (!overflow_) program_.push_back(instruction);
    return overflow_ ? 0 : here() - 1;
  }
  // A choice between the next instruction and one that is not known yet.
  std::uint32_t add_split() { return add({.op = Op::kSplit}); }
  void aim(std::uint32_t split, std::uint32_t body, std::uint32_t past, bool lazy) {
    if (overflow_) return;
    program_[split].first = lazy ? past : body;
    program_[split].second = lazy ? body : past;
  }

  std::vector<Instruction> program_;
  bool overflow_ = false;
};

void PatternCompiler::emit(const PatternNode& node) {
  if (overflow_) return;
  switch (node.kind) {
    case PatternNode::Kind::kAssert:
      add({.op = node.assertion});
      break;
    case PatternNode::Kind::kBytes:
      add({.op = Op::kByte, .bytes = node.bytes});
      break;
    case PatternNode::Kind::kSequence:
      for (const PatternNode& child : node.children) emit(child);
      break;
    case PatternNode::Kind::kChoice:
      emit_choice(node);
      break;
    case PatternNode::Kind::kRepeat:
      emit_repeat(node);
      break;
    case PatternNode::Kind::kNamed:
      add({.op = Op::kMark, .first = 2 * node.name});
      emit(node.children.front());
      add({.op = Op::kMark, .first = 2 * node.name + 1});
      break;
  }
}

void PatternCompiler::emit_choice(const PatternNode& node) {
  std::vector<std::uint32_t> jumps;
  for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
    const std::uint32_t split = add_split();
    emit(node.children[i]);
    jumps.push_back(add({.op = Op::kJump}));
    aim(split, split + 1, here(), false);
  }
  emit(node.children.back());
  if (overflow_) return;
  for (const std::uint32_t jump : jumps) program_[jump].first = here();
}

void PatternCompiler::emit_repeat(const PatternNode& node) {
  const PatternNode& child = node.children.front();
  for (std::uint32_t i = 0; i < node.min && !overflow_; ++i) emit(child);
  if (node.max == PatternNode::kUnlimited) {
    const std::uint32_t split = add_split();
    emit(child);
    add({.op = Op::kJump, .first = split});
    aim(split, split + 1, here(), node.lazy);
    return;
  }
  std::vector<std::uint32_t> splits;
  for (std::uint32_t i = node.min; i < node.max && !overflow_; ++i) {
    splits.push_back(add_split());
    emit(child);
  }
  for (const std::uint32_t split : splits) aim(split, split + 1, here(), node.lazy);
}

constexpr std::size_t kUnmarked = SIZE_MAX;
constexpr std::size_t kMarksMax = 2 * LinePattern::kNamesMax;
using Marks = std::array<std::size_t, kMarksMax>;

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool at_word_edge(std::string_view line, std::size_t at) {
  const bool before = at > 0 && is_word_byte(line[at - 1]);
  const bool after = at < line.size() && is_word_byte(line[at]);
  return before != after;
}

// The threads of matching that are at one place of the line: each stands before an instruction that
// reads a byte, or has matched. Of two that stand before the same one only that of higher rank can
// matter, so there are never more than instructions.
struct ThreadList {
  explicit ThreadList(std::size_t size) : seen(size, 0) {}

  struct Thread {
    std::uint32_t at = 0;
    Marks marks = {};
  };
  std::vector<Thread> threads = {};  // highest rank first
  std::vector<std::size_t> seen;     // by instruction: the turn in which it was last reached
  std::size_t turn = 0;

  void clear() {
    threads.clear();
    ++turn;
  }
};

class LineSearch {
 public:
  LineSearch(const std::vector<Instruction>& program, std::string_view line)
      : program_(program), line_(line), now_(program.size()), next_(program.size()) {}

  std::optional<Marks> run();

 private:
  // Lets a thread run from instruction `start` to where it would read byte `at`.
  void add(ThreadList& list, std::uint32_t start, std::size_t at, const Marks& marks);
  bool holds(Op assertion, std::size_t at) const;

  const std::vector<Instruction>& program_;
  std::string_view line_;
  ThreadList now_;
  ThreadList next_;
  // What add() has still to follow: instructions, with the marks that lead there.
  std::vector<ThreadList::Thread> pending_;
};

bool LineSearch::holds(Op assertion, std::size_t at) const {
  if (assertion == Op::kLineBegin) return at == 0;
  if (assertion == Op::kLineEnd) return at == line_.size();
  return at_word_edge(line_, at) == (assertion == Op::kWordEdge);
}

void LineSearch::add(ThreadList& list, std::uint32_t start, std::size_t at, const Marks& marks) {
  pending_.push_back({.at = start, .marks = marks});
  while (!pending_.empty()) {
    ThreadList::Thread thread = pending_.back();
    pending_.pop_back();
    if (list.seen[thread.at] == list.turn) continue;
    list.seen[thread.at] = list.turn;
    const Instruction& instruction = program_[thread.at];
    switch (instruction.op) {
      case Op::kByte:
      case Op::kMatch:
        list.threads.push_back(thread);
        break;
      case Op::kSplit:
        pending_.push_back({.at = instruction.second, .marks = thread.marks});
        pending_.push_back({.at = instruction.first, .marks = thread.marks});
        break;
      case Op::kJump:
        pending_.push_back({.at = instruction.first, .marks = thread.marks});
        break;
      case Op::kMark:
        thread.marks.at(instruction.first) = at;
        pending_.push_back({.at = thread.at + 1, .marks = thread.marks});
        break;
      case Op::kLineBegin:
      case Op::kLineEnd:
      case Op::kWordEdge:
      case Op::kNoWordEdge:
        if (!holds(instruction.op, at)) break;
        pending_.push_back({.at = thread.at + 1, .marks = thread.marks});
        break;
    }
  }
}

std::optional<Marks> LineSearch::run() {
  std::optional<Marks> best;
  Marks unmarked;
  unmarked.fill(kUnmarked);
  now_.clear();
  for (std::size_t at = 0; at <= line_.size(); ++at) {
    if (!best) add(now_, 0, at, unmarked);
    if (best && now_.threads.empty()) break;
    next_.clear();
    for (const ThreadList::Thread& thread : now_.threads) {
      const Instruction& instruction = program_[thread.at];
      if (instruction.op == Op::kMatch) {
        best = thread.marks;
        break;  // those of lower rank have lost
      }
      if (at == line_.size()) continue;
      if (!instruction.bytes.test(static_cast<unsigned char>(line_[at]))) continue;
      add(next_, thread.at + 1, at + 1, thread.marks);
    }
    std::swap(now_, next_);
  }
  return best;
}

}  // namespace

Result<LinePattern> LinePattern::compile(std::string_view expression) {
  OUTLAST_TRY_ASSIGN(PatternTree tree, parse_pattern(expression));
  LinePattern pattern;
  OUTLAST_TRY_ASSIGN(pattern.program_, PatternCompiler().compile(tree.root));
  pattern.names_ = std::move(tree.names);
  return pattern;
}

std::optional<LinePattern::Groups> LinePattern::find(std::string_view line) const {
  const auto marks = LineSearch(program_, line).run();
  if (!marks) return std::nullopt;
  Groups groups(names_.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t begin = marks->at(2 * i);
    const std::size_t end = marks->at(2 * i + 1);
    if (begin != kUnmarked && end != kUnmarked) groups[i] = line.substr(begin, end - begin);
  }
  return groups;
}

}  // namespace outlast::job
