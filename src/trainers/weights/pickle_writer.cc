#include "trainers/weights/pickle_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/utf8.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/torch_types.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kOrderedDict = "ccollections\nOrderedDict\n)R";

Error cannot(std::string_view what) {
  return {ErrorCode::kInvalidArgument, std::string(what)};
}

// Protocol 2, which every PyTorch reads, in only those operations that its reader for weights alone
// has. Nothing is noted for later: equal values are equal bytes. Confined to its owner.
class Pickler {
 public:
  Pickler() { raw("\x80\x02"); }

  Result<void> add(const PthValue& value) {
    return std::visit([&](const auto& held) { return add_held(held); }, value.value);
  }

  Result<void> add_state(const Weights& weights) {
    raw(kOrderedDict);
    raw("(");
    std::set<std::string_view> names;
    for (const WeightTensor& tensor : weights.tensors) {
      if (!names.insert(tensor.name).second) {
        return cannot(fmt::format("two tensors are called {}", shown_name(tensor.name)));
      }
      OUTLAST_TRY(add_held(tensor.name));
      OUTLAST_TRY(add_held(tensor).while_doing("tensor " + shown_name(tensor.name)));
    }
    raw("u");
    return {};
  }

  PickledValue finish() {
    raw(".");
    return std::move(made_);
  }

 private:
  void raw(std::string_view text) {
    const BytesView bytes = as_bytes(text);
    made_.pickle.insert(made_.pickle.end(), bytes.begin(), bytes.end());
  }
  template <std::size_t Count>
  void number(std::uint64_t number) {
    for (std::size_t i = 0; i < Count; ++i) {
      made_.pickle.push_back(static_cast<std::byte>(number >> (8 * i)));
    }
  }

  Result<void> add_held(std::monostate /*none*/) {
    raw("N");
    return {};
  }
  Result<void> add_held(bool value) {
    raw(value ? "\x88" : "\x89");
    return {};
  }
  Result<void> add_held(std::int64_t value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (value >= 0 && value <= std::numeric_limits<std::uint8_t>::max()) {
      raw("K");
      number<1>(bits);
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max()) {
      raw("J");
      number<4>(bits);
    } else {
      raw("\x8a\x08");
      number<8>(bits);
    }
    return {};
  }
  Result<void> add_held(double value) {
    raw("G");
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (std::size_t i = sizeof bits; i-- > 0;) {
      made_.pickle.push_back(static_cast<std::byte>(bits >> (8 * i)));
    }
    return {};
  }
  Result<void> add_held(const std::string& text) {
    if (!is_utf8(text)) return cannot(fmt::format("the text {} is not UTF-8", shown_name(text)));
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
      return cannot(fmt::format("a text of {} bytes is too long", text.size()));
    }
    raw("X");
    number<4>(text.size());
    raw(text);
    return {};
  }
  Result<void> add_held(const PthList& list) {
    raw(list.is_tuple ? "(" : "](");
    for (const PthValue& item : list.items) OUTLAST_TRY(add(item));
    raw(list.is_tuple ? "t" : "e");
    return {};
  }
  Result<void> add_held(const PthDict& dict) {
    raw("}(");
    std::set<PthKey> keys;
    for (const PthEntry& entry : dict.entries) {
      const auto* text = std::get_if<std::string>(&entry.key);
      const std::string shown =
          text != nullptr ? shown_name(*text) : std::to_string(std::get<std::int64_t>(entry.key));
      if (!keys.insert(entry.key).second)
        return cannot(fmt::format("the key {} is there twice", shown));
      OUTLAST_TRY(std::visit([&](const auto& key) { return add_held(key); }, entry.key));
      OUTLAST_TRY(add(entry.value).while_doing(shown));
    }
    raw("u");
    return {};
  }

  // The call that makes it: from its storage, which is all of it and nothing else.
  Result<void> add_held(const WeightTensor& tensor) {
    const auto type = torch_type(tensor.dtype);
    if (!type) {
      return cannot(
          fmt::format("PyTorch's files have no dtype {}", checkpoint::to_string(tensor.dtype)));
    }
    const std::uint64_t width = checkpoint::bits_of(tensor.dtype) / 8;
    OUTLAST_TRY_ASSIGN(const std::vector<std::uint64_t> stride, strides_of(tensor, width));
    const bool untyped = type->storage.empty();
    raw(untyped ? "ctorch._utils\n_rebuild_tensor_v3\n(("
                : "ctorch._utils\n_rebuild_tensor_v2\n((");
    OUTLAST_TRY(add_held(std::string("storage")));
    raw(untyped ? "ctorch.storage\nUntypedStorage\n" : fmt::format("ctorch\n{}\n", type->storage));
    OUTLAST_TRY(add_held(std::to_string(made_.tensors.size())));
    OUTLAST_TRY(add_held(std::string("cpu")));
    OUTLAST_TRY(add_held(static_cast<std::int64_t>(tensor.data.size() / (untyped ? 1 : width))));
    raw("tQK");
    number<1>(0);  // where it begins in the storage
    OUTLAST_TRY(add_numbers(tensor.shape));
    OUTLAST_TRY(add_numbers(stride));
    OUTLAST_TRY(add_held(false));  // wants no gradient
    raw(kOrderedDict);             // no hooks
    if (untyped) raw(fmt::format("ctorch\n{}\n", type->dtype));
    raw("tR");
    made_.tensors.push_back(&tensor);
    return {};
  }

  Result<void> add_numbers(const std::vector<std::uint64_t>& numbers) {
    raw("(");
    for (const std::uint64_t number : numbers) {
      OUTLAST_TRY(add_held(static_cast<std::int64_t>(number)));
    }
    raw("t");
    return {};
  }

  static Result<std::vector<std::uint64_t>> strides_of(const WeightTensor& tensor,
                                                       std::uint64_t width) {
    std::vector<std::uint64_t> stride(tensor.shape.size());
    std::uint64_t elements = 1;
    bool fits = true;
    for (std::size_t i = stride.size(); i-- > 0;) {
      // PyTorch counts a length of 0 as 1 here.
      stride[i] = elements;
      const std::uint64_t length = std::max<std::uint64_t>(tensor.shape[i], 1);
      fits = fits && !__builtin_mul_overflow(elements, length, &elements);
    }
    for (const std::uint64_t length : tensor.shape) {
      if (length == 0) elements = 0;
    }
    std::uint64_t bytes = 0;
    fits = fits && !__builtin_mul_overflow(elements, width, &bytes) &&
           bytes == tensor.data.size() &&
           bytes <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (fits) return stride;
    return cannot(fmt::format("the shape {} of {} does not need the {} bytes that are there",
                              shown_shape(tensor.shape), checkpoint::to_string(tensor.dtype),
                              tensor.data.size()));
  }

  PickledValue made_;
};

}  // namespace

Result<PickledValue> pickle_value(const PthValue& value) {
  Pickler pickler;
  OUTLAST_TRY(pickler.add(value));
  return pickler.finish();
}

Result<PickledValue> pickle_value(const Weights& weights) {
  Pickler pickler;
  OUTLAST_TRY(pickler.add_state(weights));
  return pickler.finish();
}

}  // namespace outlast::trainers
