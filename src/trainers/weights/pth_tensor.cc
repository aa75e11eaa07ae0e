#include "trainers/weights/pth_tensor.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/torch_types.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kRankMax = 64;
constexpr std::size_t kKeyBytesMax = 200;  // PyTorch's are numbers

// Where the elements of a tensor lie in its storage, counted in elements.
struct Strided {
  std::vector<std::uint64_t> shape = {};
  std::vector<std::uint64_t> stride = {};
  std::uint64_t offset = 0;
  std::uint64_t count = 1;
};

std::optional<std::uint64_t> natural(const PickleNode& node) {
  if (node.kind != PickleKind::kInteger || node.integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(node.integer);
}

std::optional<std::vector<std::uint64_t>> naturals(const Pickle& pickle, const PickleNode& node) {
  if (node.kind != PickleKind::kTuple && node.kind != PickleKind::kList) return std::nullopt;
  const std::span<const NodeId> items = pickle.items(node);
  if (items.size() > kRankMax) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const NodeId id : items) {
    const auto number = natural(pickle.at(id));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Result<Strided> strided_of(const Pickle& pickle, std::span<const NodeId> rebuilt_from) {
  const auto offset = natural(pickle.at(rebuilt_from[1]));
  auto shape = naturals(pickle, pickle.at(rebuilt_from[2]));
  auto stride = naturals(pickle, pickle.at(rebuilt_from[3]));
  if (!offset || !shape || !stride || shape->size() != stride->size()) {
    return bad_weights(
        fmt::format("an offset, and a shape and strides of at most {} whole numbers, none "
                    "negative, are expected",
                    kRankMax));
  }
  Strided strided = {.shape = *std::move(shape), .stride = *std::move(stride), .offset = *offset};
  // An empty tensor may have any lengths beside its 0.
  for (const std::uint64_t length : strided.shape) {
    if (length == 0) strided.count = 0;
  }
  if (strided.count == 0) return strided;
  for (const std::uint64_t length : strided.shape) {
    if (__builtin_mul_overflow(strided.count, length, &strided.count)) {
      return bad_weights(
          fmt::format("the shape {} is beyond any file", shown_shape(strided.shape)));
    }
  }
  return strided;
}

// One more than the last element that it touches; nullopt if there is no such number.
std::optional<std::uint64_t> end_of(const Strided& strided) {
  std::uint64_t last = strided.offset;
  for (std::size_t i = 0; i < strided.shape.size(); ++i) {
    std::uint64_t way = 0;
    if (__builtin_mul_overflow(strided.shape[i] - 1, strided.stride[i], &way) ||
        __builtin_add_overflow(last, way, &last)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(last, 1, &last)) return std::nullopt;
  return last;
}

bool is_contiguous(const Strided& strided) {
  std::uint64_t expected = 1;
  for (std::size_t i = strided.shape.size(); i-- > 0;) {
    if (strided.shape[i] == 1) continue;
    if (strided.stride[i] != expected) return false;
    expected *= strided.shape[i];
  }
  return true;
}

// All of its elements in their order, from the bytes of the storage, which are enough.
void gather(const Strided& strided, BytesView from, std::size_t width, Bytes& to) {
  if (is_contiguous(strided)) {
    std::memcpy(to.data(), from.data() + strided.offset * width, to.size());
    return;
  }
  // Lengths of 1 would only cost time.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> axes;
  for (std::size_t i = 0; i < strided.shape.size(); ++i) {
    if (strided.shape[i] != 1) axes.emplace_back(strided.shape[i], strided.stride[i]);
  }
  std::vector<std::uint64_t> index(axes.size());
  std::uint64_t at = strided.offset;
  for (std::size_t done = 0; done < to.size(); done += width) {
    std::memcpy(to.data() + done, from.data() + at * width, width);
    for (std::size_t i = axes.size(); i-- > 0;) {
      const auto& [length, stride] = axes[i];
      at += stride;
      if (++index[i] < length) break;
      at -= length * stride;
      index[i] = 0;
    }
  }
}

// What the elements of a tensor are: what its storage says, or of version 3 the tensor itself.
Result<checkpoint::Dtype> dtype_of(const Pickle& pickle, const PickleNode& tensor,
                                   const StorageRef& storage) {
  std::optional<checkpoint::Dtype> dtype = storage.dtype;
  std::string_view name = "a storage of bytes";
  if (tensor.integer == 1) {
    const PickleNode& said = pickle.at(pickle.items(tensor)[6]);
    dtype = std::nullopt;
    if (said.kind == PickleKind::kGlobal) {
      const TorchGlobal global = pickle.global_of(said);
      if (global.role == TorchRole::kDtype) dtype = global.dtype;
      name = global.name;
    }
  }
  if (dtype) return *dtype;
  return bad_weights(fmt::format("the dtype of {} is not known here", name));
}

}  // namespace

std::uint64_t StorageRef::element_bytes() const {
  return dtype ? checkpoint::bits_of(*dtype) / 8 : 1;
}

Result<StorageRef> storage_ref(const Pickle& pickle, const PickleNode& storage) {
  const std::span<const NodeId> id = pickle.items(storage);
  const auto is_text = [&](std::size_t i) { return pickle.at(id[i]).kind == PickleKind::kText; };
  if (id.empty() || !is_text(0) || pickle.at(id[0]).text != "storage") {
    return bad_weights(
        fmt::format("it refers to {}, and only storages are expected",
                    shown_name(id.empty() || !is_text(0) ? "" : pickle.at(id[0]).text)));
  }
  if (id.size() < 5 || id.size() > 6 || pickle.at(id[1]).kind != PickleKind::kGlobal ||
      !is_text(2) || pickle.at(id[2]).text.size() > kKeyBytesMax) {
    return bad_weights("a storage needs a class, a key, a device and a size");
  }
  const TorchGlobal global = pickle.global_of(pickle.at(id[1]));
  StorageRef ref = {.key = pickle.at(id[2]).text, .dtype = global.dtype};
  const auto wrong = [&](std::string_view what) {
    return bad_weights(fmt::format("storage {}: {}", shown_name(ref.key), what));
  };
  if (global.role == TorchRole::kStorage && !global.dtype) {
    return wrong(fmt::format("the dtype of {} is not known here", global.name));
  }
  if (global.role != TorchRole::kStorage && global.role != TorchRole::kUntypedStorage) {
    return wrong(fmt::format("{} is no class of storages", global.name));
  }
  const auto elements = natural(pickle.at(id[4]));
  std::uint64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, ref.element_bytes(), &bytes)) {
    return wrong("its size is no number of elements");
  }
  ref.elements = ref.part_elements = *elements;
  if (id.size() == 5 || pickle.at(id[5]).kind == PickleKind::kNone) return ref;
  // A view: its own key, where it begins, and its size.
  const PickleNode& view = pickle.at(id[5]);
  const std::span<const NodeId> facts = pickle.items(view);
  if (view.kind != PickleKind::kTuple || facts.size() != 3) return wrong("its view is not sound");
  const auto begin = natural(pickle.at(facts[1]));
  const auto count = natural(pickle.at(facts[2]));
  if (!begin || !count || *begin > ref.elements || *count > ref.elements - *begin) {
    return wrong("its view is not within it");
  }
  ref.part_begin = *begin;
  ref.part_elements = *count;
  return ref;
}

Result<WeightTensor> make_tensor(const Pickle& pickle, const PickleNode& tensor,
                                 const FindStorage& find, std::uint64_t* bytes_left) {
  const std::span<const NodeId> rebuilt_from = pickle.items(tensor);
  OUTLAST_TRY_ASSIGN(const StorageRef storage, storage_ref(pickle, pickle.at(rebuilt_from[0])));
  OUTLAST_TRY_ASSIGN(const checkpoint::Dtype dtype, dtype_of(pickle, tensor, storage));
  OUTLAST_TRY_ASSIGN(const Strided strided, strided_of(pickle, rebuilt_from));
  WeightTensor made = {.dtype = dtype, .shape = strided.shape};
  const auto too_much = [&] {
    return bad_weights(
        fmt::format("the shape {} repeats elements of its storage: that is more memory than "
                    "several times the file",
                    shown_shape(strided.shape)));
  };
  const std::uint64_t shape_bytes = strided.shape.size() * sizeof(std::uint64_t);
  if (shape_bytes > *bytes_left) return too_much();
  *bytes_left -= shape_bytes;
  if (strided.count == 0) return made;

  const std::size_t width = checkpoint::bits_of(dtype) / 8;
  const std::uint64_t room = storage.part_elements * storage.element_bytes() / width;
  const auto end = end_of(strided);
  if (!end || *end > room) {
    return bad_weights(
        fmt::format("storage {} has {} elements and the shape {} from element {} needs {}",
                    shown_name(storage.key), room, shown_shape(strided.shape), strided.offset,
                    end ? fmt::format("{}", *end) : "more than there are numbers"));
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(strided.count, width, &bytes) || bytes > *bytes_left) {
    return too_much();
  }
  *bytes_left -= bytes;
  OUTLAST_TRY_ASSIGN(const BytesView content, find(storage));
  made.data.resize(bytes);
  gather(strided, content.subspan(storage.part_begin * storage.element_bytes()), width, made.data);
  return made;
}

}  // namespace outlast::trainers
