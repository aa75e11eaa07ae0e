#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "trainers/weights/torch_types.h"

// Python's pickles, as far as files of tensors need them. Nothing is ever run: what a pickle wants
// called is a name of the list in torch_types.h, which becomes a node here, or it is refused.
namespace outlast::trainers {

using NodeId = std::uint32_t;

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,     // integer
  kInteger,  // integer
  kLong,     // too large for one; text: its bytes, as the file has them
  kNumber,   // number
  kText,     // text, not proved to be UTF-8
  kList,     // items
  kTuple,    // items
  kDict,     // items: key, value, key, value, …; a key that comes again counts last
  kGlobal,   // text: the name; global_of() says more
  kStorage,  // items: those of the persistent id
  kTensor,   // items: what it is rebuilt from; integer: 1 if it brings its dtype (version 3)
};

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t list = 0;  // where its items are
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text = {};
};

// What a pickle says: nodes that refer to others, several to one and in circles if the pickle wants
// it so. Texts are views of the bytes that were read. Immutable once read.
class Pickle {
 public:
  const PickleNode& root() const { return nodes_[root_]; }
  const PickleNode& at(NodeId id) const { return nodes_[id]; }
  std::span<const NodeId> items(const PickleNode& node) const { return lists_[node.list]; }
  TorchGlobal global_of(const PickleNode& node) const {
    return globals_[static_cast<std::size_t>(node.integer)];
  }
  std::span<const PickleNode> nodes() const { return nodes_; }
  // How many bytes it took; others may follow.
  std::size_t bytes() const { return bytes_; }

 private:
  friend class PickleMachine;
  std::vector<PickleNode> nodes_;
  std::vector<std::vector<NodeId>> lists_ = {{}};  // the first is that of all that have no items
  std::vector<TorchGlobal> globals_;
  NodeId root_ = 0;
  std::size_t bytes_ = 0;
};

// More than any table of tensors takes; memory is a small multiple of what is read.
inline constexpr std::size_t kPickleBytesMax = 32U << 20U;

// The pickle at the beginning of `bytes`, which lie at `offset` in their file: errors name the byte
// there. kCorrupt if it is cut short, not sound, or wants anything that is not a tensor.
Result<Pickle> read_pickle(BytesView bytes, std::uint64_t offset);

}  // namespace outlast::trainers
