#include "trainers/weights/pickle_reader.h"

#include <fmt/core.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/weights/pickle_cursor.h"
#include "trainers/weights/torch_types.h"
#include "trainers/weights/weight_error.h"

namespace outlast::trainers {

// The machine that a pickle is a program for. It has a stack of nodes, marks on it, and a memo of
// nodes by number. Confined to its owner.
class PickleMachine {
 public:
  PickleMachine(BytesView bytes, std::uint64_t offset) : cursor_(bytes, offset) {}

  Result<Pickle> run() {
    while (!stopped_) {
      OUTLAST_TRY_ASSIGN(const char code, cursor_.next_operation());
      OUTLAST_TRY(step(code));
    }
    pickle_.bytes_ = cursor_.taken();
    return std::move(pickle_);
  }

 private:
  Error wrong(std::string_view what) const { return cursor_.wrong(what); }

  // --- The stack ---

  NodeId add(const PickleNode& node) {
    pickle_.nodes_.push_back(node);
    return static_cast<NodeId>(pickle_.nodes_.size() - 1);
  }
  Result<void> push(const PickleNode& node) {
    stack_.push_back(add(node));
    return {};
  }
  Result<void> push_list(PickleKind kind, std::vector<NodeId> items) {
    pickle_.lists_.push_back(std::move(items));
    return push({.kind = kind, .list = static_cast<std::uint32_t>(pickle_.lists_.size() - 1)});
  }
  // Above the last mark only: what is below it belongs to another.
  Result<NodeId> pop() {
    if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) return wrong("its stack is empty");
    const NodeId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  Result<NodeId> top() {
    OUTLAST_TRY_ASSIGN(const NodeId id, pop());
    stack_.push_back(id);
    return id;
  }
  Result<std::vector<NodeId>> pop_marked() {
    if (marks_.empty()) return wrong("it has no mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<NodeId> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  Result<std::vector<NodeId>> pop_some(std::size_t count) {
    std::vector<NodeId> items(count);
    while (count-- > 0) {
      OUTLAST_TRY_ASSIGN(items[count], pop());
    }
    return items;
  }

  // --- The operations ---

  Result<void> step(char code);
  Result<void> step_new(char code);

  Result<void> integer(std::size_t bytes) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t number, cursor_.take_number(bytes));
    const auto value = bytes == 4 ? std::int64_t{static_cast<std::int32_t>(number)}
                                  : std::bit_cast<std::int64_t>(number);
    return push({.kind = PickleKind::kInteger, .integer = value});
  }
  // Two's complement, of any length.
  Result<void> long_integer(std::size_t length_bytes) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t length, cursor_.take_number(length_bytes));
    OUTLAST_TRY_ASSIGN(const std::string_view taken, cursor_.take(length));
    if (length > sizeof(std::int64_t)) return push({.kind = PickleKind::kLong, .text = taken});
    const bool negative = !taken.empty() && (static_cast<unsigned char>(taken.back()) & 0x80U) != 0;
    std::uint64_t number = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = taken.size(); i-- > 0;) {
      number = (number << 8U) | static_cast<unsigned char>(taken[i]);
    }
    return push({.kind = PickleKind::kInteger, .integer = std::bit_cast<std::int64_t>(number)});
  }
  // The only number with the most significant byte first.
  Result<void> number() {
    OUTLAST_TRY_ASSIGN(const std::string_view taken, cursor_.take(sizeof(double)));
    std::uint64_t bits = 0;
    for (const char byte : taken) bits = (bits << 8U) | static_cast<unsigned char>(byte);
    return push({.kind = PickleKind::kNumber, .number = std::bit_cast<double>(bits)});
  }
  Result<void> text(std::size_t length_bytes) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t length, cursor_.take_number(length_bytes));
    OUTLAST_TRY_ASSIGN(const std::string_view taken, cursor_.take(length));
    return push({.kind = PickleKind::kText, .text = taken});
  }
  Result<void> tuple(std::size_t count) {
    OUTLAST_TRY_ASSIGN(std::vector<NodeId> items, pop_some(count));
    return push_list(PickleKind::kTuple, std::move(items));
  }
  Result<void> put(std::uint64_t number) {
    OUTLAST_TRY_ASSIGN(const NodeId id, top());
    memo_[number] = id;
    return {};
  }
  Result<void> get(std::size_t bytes) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t number, cursor_.take_number(bytes));
    const auto found = memo_.find(number);
    if (found == memo_.end()) return wrong(fmt::format("nothing was noted under {}", number));
    stack_.push_back(found->second);
    return {};
  }

  Result<void> global(const PythonName& python) {
    const std::optional<TorchGlobal> known = find_torch_global(python);
    if (!known) {
      return bad_weights(
          fmt::format("this file wants Python to call {}.{}, which is no tensor (byte {})",
                      printable(python.module), printable(python.name), cursor_.operation_at()));
    }
    pickle_.globals_.push_back(*known);
    return push({.kind = PickleKind::kGlobal,
                 .integer = static_cast<std::int64_t>(pickle_.globals_.size() - 1),
                 .text = known->name});
  }
  static std::string printable(std::string_view name) {
    const std::string shown = shown_name(name);
    return shown.substr(1, shown.size() - 2);
  }
  Result<void> stack_global() {
    OUTLAST_TRY_ASSIGN(const std::vector<NodeId> names, pop_some(2));
    const PickleNode& module = pickle_.at(names[0]);
    const PickleNode& name = pickle_.at(names[1]);
    if (module.kind != PickleKind::kText || name.kind != PickleKind::kText) {
      return wrong("a name of Python must be two texts");
    }
    return global({.module = module.text, .name = name.text});
  }

  Result<void> append(std::vector<NodeId> items, PickleKind to) {
    OUTLAST_TRY_ASSIGN(const NodeId id, top());
    if (pickle_.at(id).kind != to) {
      return wrong(to == PickleKind::kDict ? "it sets items of what is no dictionary"
                                           : "it appends to what is no list");
    }
    if (to == PickleKind::kDict && items.size() % 2 != 0) return wrong("a key has no value");
    std::vector<NodeId>& list = pickle_.lists_[pickle_.at(id).list];
    list.insert(list.end(), items.begin(), items.end());
    return {};
  }
  Result<void> append_marked(PickleKind to) {
    OUTLAST_TRY_ASSIGN(std::vector<NodeId> items, pop_marked());
    return append(std::move(items), to);
  }
  Result<void> append_some(std::size_t count, PickleKind to) {
    OUTLAST_TRY_ASSIGN(std::vector<NodeId> items, pop_some(count));
    return append(std::move(items), to);
  }

  Result<void> persistent() {
    OUTLAST_TRY_ASSIGN(const NodeId id, pop());
    const PickleNode& tuple = pickle_.at(id);
    if (tuple.kind != PickleKind::kTuple) return wrong("what it refers to is no storage");
    return push({.kind = PickleKind::kStorage, .list = tuple.list});
  }

  Result<void> reduce() {
    OUTLAST_TRY_ASSIGN(const std::vector<NodeId> call, pop_some(2));
    const PickleNode function = pickle_.at(call[0]);
    const PickleNode given = pickle_.at(call[1]);
    if (function.kind != PickleKind::kGlobal || given.kind != PickleKind::kTuple) {
      return wrong("it calls what cannot be called");
    }
    return construct(pickle_.global_of(function), given.list);
  }
  Result<void> construct(const TorchGlobal& what, std::uint32_t list);
  Result<void> dictionary(const TorchGlobal& what, std::uint32_t list);

  // The attributes of a dictionary (PyTorch keeps versions of modules there) are no weights.
  Result<void> build() {
    OUTLAST_TRY(pop());
    OUTLAST_TRY_ASSIGN(const NodeId id, top());
    const PickleKind kind = pickle_.at(id).kind;
    if (kind == PickleKind::kDict || kind == PickleKind::kTensor) return {};
    return wrong("it sets attributes of what has none");
  }

  Result<void> stop() {
    OUTLAST_TRY_ASSIGN(pickle_.root_, pop());
    stopped_ = true;
    return {};
  }

  PickleCursor cursor_;
  std::size_t pairs_copied_ = 0;
  bool stopped_ = false;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, NodeId> memo_;
  Pickle pickle_;
};

// Operations by the letters of Python's pickle module, protocols 2 to 5; first those that refer to
// what is there.
Result<void> PickleMachine::step(char code) {
  switch (code) {
    case '\x80':  // the protocol: the operations themselves tell
      OUTLAST_TRY(cursor_.take(1));
      return {};
    case '\x95':  // a frame: only for those who read from a pipe
      OUTLAST_TRY(cursor_.take(8));
      return {};
    case '.':
      return stop();
    case '(':
      marks_.push_back(stack_.size());
      return {};
    case 'q': {
      OUTLAST_TRY_ASSIGN(const std::uint64_t number, cursor_.take_number(1));
      return put(number);
    }
    case 'r': {
      OUTLAST_TRY_ASSIGN(const std::uint64_t number, cursor_.take_number(4));
      return put(number);
    }
    case '\x94':
      return put(memo_.size());
    case 'h':
      return get(1);
    case 'j':
      return get(4);
    case 'a':
      return append_some(1, PickleKind::kList);
    case 'e':
    case '\x90':  // to a set
      return append_marked(PickleKind::kList);
    case 's':
      return append_some(2, PickleKind::kDict);
    case 'u':
      return append_marked(PickleKind::kDict);
    case 'Q':
      return persistent();
    case 'R':
      return reduce();
    case 'b':
      return build();
    default:
      return step_new(code);
  }
}

// Then those that make something new.
Result<void> PickleMachine::step_new(char code) {
  switch (code) {
    case 'N':
      return push({.kind = PickleKind::kNone});
    case '\x88':
      return push({.kind = PickleKind::kBool, .integer = 1});
    case '\x89':
      return push({.kind = PickleKind::kBool});
    case 'K':
      return integer(1);
    case 'M':
      return integer(2);
    case 'J':
      return integer(4);
    case '\x8a':
      return long_integer(1);
    case '\x8b':
      return long_integer(4);
    case 'G':
      return number();
    case 'U':  // texts of Python 2
    case '\x8c':
      return text(1);
    case 'T':
    case 'X':
      return text(4);
    case '\x8d':
      return text(8);
    case ')':
      return tuple(0);
    case '\x85':
      return tuple(1);
    case '\x86':
      return tuple(2);
    case '\x87':
      return tuple(3);
    case 't': {
      OUTLAST_TRY_ASSIGN(std::vector<NodeId> items, pop_marked());
      return push_list(PickleKind::kTuple, std::move(items));
    }
    case ']':
    case '\x8f':  // a set
      return push_list(PickleKind::kList, {});
    case '}':
      return push_list(PickleKind::kDict, {});
    case 'c': {
      OUTLAST_TRY_ASSIGN(const std::string_view module, cursor_.take_line());
      OUTLAST_TRY_ASSIGN(const std::string_view name, cursor_.take_line());
      return global({.module = module, .name = name});
    }
    case '\x93':
      return stack_global();
    default:
      return wrong(fmt::format("the operation 0x{:02x} is none that files of tensors need",
                               static_cast<unsigned char>(code)));
  }
}

Result<void> PickleMachine::construct(const TorchGlobal& what, std::uint32_t list) {
  const std::vector<NodeId>& given = pickle_.lists_[list];
  const auto given_kind = [&](std::size_t i) { return pickle_.at(given[i]).kind; };
  const auto misused = [&] { return wrong(fmt::format("{} is used wrongly", what.name)); };
  switch (what.role) {
    case TorchRole::kOrderedDict:
    case TorchRole::kCounter:
      return dictionary(what, list);
    case TorchRole::kSet:
    case TorchRole::kSize: {
      if (given.size() != 1) return misused();
      const PickleNode from = pickle_.at(given[0]);
      if (from.kind != PickleKind::kList && from.kind != PickleKind::kTuple) return misused();
      return push({.kind = what.role == TorchRole::kSet ? PickleKind::kList : PickleKind::kTuple,
                   .list = from.list});
    }
    case TorchRole::kDevice:
    case TorchRole::kRebuildParameter: {
      const bool device = what.role == TorchRole::kDevice;
      if (given.empty() || given_kind(0) != (device ? PickleKind::kText : PickleKind::kTensor)) {
        return misused();
      }
      stack_.push_back(given[0]);
      return {};
    }
    case TorchRole::kRebuildTensor:
    case TorchRole::kRebuildTensorV3: {
      const bool typed = what.role == TorchRole::kRebuildTensorV3;
      if (given.size() < (typed ? 7 : 4) || given_kind(0) != PickleKind::kStorage) return misused();
      return push({.kind = PickleKind::kTensor, .list = list, .integer = typed ? 1 : 0});
    }
    case TorchRole::kStorage:
    case TorchRole::kUntypedStorage:
    case TorchRole::kDtype:
      break;
  }
  return misused();
}

// Empty, or from pairs (as Python 2 wrote ordered ones), or from a dictionary.
Result<void> PickleMachine::dictionary(const TorchGlobal& what, std::uint32_t list) {
  if (pickle_.lists_[list].empty()) return push_list(PickleKind::kDict, {});
  const PickleNode from = pickle_.at(pickle_.lists_[list].front());
  if (from.kind == PickleKind::kDict) {
    return push({.kind = PickleKind::kDict, .list = from.list});
  }
  if (from.kind != PickleKind::kList) return wrong(fmt::format("{} is used wrongly", what.name));
  std::vector<NodeId> entries;
  for (const NodeId id : pickle_.lists_[from.list]) {
    const PickleNode& pair = pickle_.at(id);
    const std::span<const NodeId> items = pickle_.items(pair);
    if ((pair.kind != PickleKind::kList && pair.kind != PickleKind::kTuple) || items.size() != 2) {
      return wrong(fmt::format("{} is used wrongly", what.name));
    }
    entries.insert(entries.end(), items.begin(), items.end());
    // One list can be named again and again with a few bytes each time.
    if (++pairs_copied_ > cursor_.size()) return wrong("it copies more than it has");
  }
  return push_list(PickleKind::kDict, std::move(entries));
}

Result<Pickle> read_pickle(BytesView bytes, std::uint64_t offset) {
  return PickleMachine(bytes, offset).run();
}

}  // namespace outlast::trainers
