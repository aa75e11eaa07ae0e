#include "checkpoint/safetensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/utf8.h"
#include "checkpoint/little_endian.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::size_t kRankMax = 64;

Error bad_file(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("not a sound safetensors file: {}", what)};
}

// In quotes, and not endless.
std::string shown(const std::string& name) {
  return canonical_json(Json(name.substr(0, 80)));
}

Error bad_tensor(const std::string& name, std::string_view what) {
  return bad_file(fmt::format("tensor {}: {}", shown(name), what));
}

// nullopt if there is no such number of bytes.
std::optional<std::uint64_t> bytes_of(Dtype dtype, const std::vector<std::uint64_t>& shape) {
  std::uint64_t bits = bits_of(dtype);
  for (const std::uint64_t length : shape) {
    if (__builtin_mul_overflow(bits, length, &bits)) return std::nullopt;
  }
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

// An array of whole numbers that are not negative.
std::optional<std::vector<std::uint64_t>> numbers_of(const Json& list) {
  if (!list.is_array() || list.size() > kRankMax) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const Json& number : list) {
    if (!number.is_number_unsigned()) return std::nullopt;
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

Result<Tensor> read_tensor(const std::string& name, const Json& facts, std::uint64_t data_begin) {
  if (!facts.is_object() || facts.size() != 3 || !facts.contains("dtype") ||
      !facts.contains("shape") || !facts.contains("data_offsets")) {
    return bad_tensor(name, "it must have 'dtype', 'shape' and 'data_offsets', and nothing else");
  }
  const Json& dtype_name = facts["dtype"];
  if (!dtype_name.is_string()) return bad_tensor(name, "'dtype' must be a string");
  const auto dtype = parse_dtype(dtype_name.get_ref<const std::string&>());
  if (!dtype) {
    return bad_tensor(name, fmt::format("the dtype {} is not known here",
                                        shown(dtype_name.get_ref<const std::string&>())));
  }
  auto shape = numbers_of(facts["shape"]);
  if (!shape) {
    return bad_tensor(
        name, fmt::format("'shape' must be at most {} whole numbers, none negative", kRankMax));
  }
  const auto offsets = numbers_of(facts["data_offsets"]);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    return bad_tensor(name, "'data_offsets' must be a beginning and an end");
  }
  const std::uint64_t bytes = (*offsets)[1] - (*offsets)[0];
  if (bytes_of(*dtype, *shape) != bytes) {
    return bad_tensor(name,
                      fmt::format("its dtype and shape do not need the {} bytes it has", bytes));
  }
  Tensor tensor = {.name = name, .dtype = *dtype, .shape = *std::move(shape)};
  if (__builtin_add_overflow((*offsets)[0], data_begin, &tensor.begin) ||
      __builtin_add_overflow((*offsets)[1], data_begin, &tensor.end)) {
    return bad_tensor(name, "its end is beyond any file");
  }
  return tensor;
}

Result<std::map<std::string, std::string>> read_metadata(const Json& map) {
  if (!map.is_object()) return bad_file("'__metadata__' must map strings to strings");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : map.items()) {
    if (!value.is_string()) return bad_file("'__metadata__' must map strings to strings");
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Every byte from data_begin to the end belongs to exactly one of the tensors, which are in order.
Result<void> check_cover(const Safetensors& file) {
  std::uint64_t covered = file.data_begin;
  for (const Tensor& tensor : file.tensors) {
    if (tensor.begin != covered) {
      return bad_tensor(tensor.name, tensor.begin < covered ? "it overlaps the one before it"
                                                            : "there is a hole before it");
    }
    covered = tensor.end;
  }
  if (covered != file.size) {
    return bad_file(fmt::format("its tensors end at byte {}, and it has {}", covered, file.size));
  }
  return {};
}

Result<Safetensors> parse_header(std::string_view text, std::uint64_t size) {
  // The format wants it, and so nobody takes white space or a byte-order mark for the beginning.
  if (!text.starts_with('{')) return bad_file("its header does not begin with '{'");
  const Result<Json> header =
      parse_json(text, {.bytes_max = kSafetensorsHeaderMax, .depth_max = 3});
  if (!header) return bad_file(fmt::format("its header: {}", header.error().to_string()));
  Safetensors file = {.data_begin = kLengthBytes + text.size(), .size = size};
  for (const auto& [name, facts] : header->items()) {
    if (name == kMetadataKey) {
      OUTLAST_TRY_ASSIGN(file.metadata, read_metadata(facts));
    } else {
      OUTLAST_TRY_ASSIGN(Tensor tensor, read_tensor(name, facts, file.data_begin));
      file.tensors.push_back(std::move(tensor));
    }
  }
  std::ranges::sort(file.tensors, {}, [](const Tensor& tensor) {
    return std::tie(tensor.begin, tensor.end, tensor.name);
  });
  OUTLAST_TRY(check_cover(file));
  return file;
}

// That of the header, from the file's first bytes.
Result<std::uint64_t> header_length(BytesView beginning, std::uint64_t size) {
  const auto length = LittleEndianReader(beginning).u64();
  if (!length) return bad_file(fmt::format("it has {} bytes", size));
  if (*length > kSafetensorsHeaderMax) {
    return bad_file(fmt::format("a header of {} bytes is over the limit of {}", *length,
                                kSafetensorsHeaderMax));
  }
  if (*length > size - kLengthBytes) {
    return bad_file(fmt::format("a header of {} bytes in a file of {}", *length, size));
  }
  return *length;
}

}  // namespace

bool may_be_safetensors(BytesView beginning, std::uint64_t size) {
  return beginning.size() > kLengthBytes && size >= beginning.size() &&
         header_length(beginning, size) && beginning[kLengthBytes] == std::byte{'{'};
}

Result<Safetensors> parse_safetensors(BytesView file) {
  return parse_safetensors(file, file.size());
}

Result<Safetensors> parse_safetensors(BytesView beginning, std::uint64_t size) {
  OUTLAST_TRY_ASSIGN(const std::uint64_t length, header_length(beginning, size));
  if (length > beginning.size() - kLengthBytes) return bad_file("its header is not all here");
  return parse_header(as_text(beginning.subspan(kLengthBytes, length)), size);
}

Result<Safetensors> read_safetensors(sys::File& file) {
  OUTLAST_TRY_ASSIGN(const std::uint64_t size, file.size());
  Bytes beginning(kLengthBytes);
  OUTLAST_TRY_ASSIGN(const std::size_t begun, file.read_at(beginning, 0));
  beginning.resize(begun);
  OUTLAST_TRY_ASSIGN(const std::uint64_t length, header_length(beginning, size));
  Bytes header(length);
  OUTLAST_TRY_ASSIGN(const std::size_t got, file.read_at(header, kLengthBytes));
  if (got != length) return bad_file("it became shorter while it was read");
  return parse_header(as_text(header), size);
}

Result<SafetensorsPlan> plan_safetensors(const std::vector<TensorBytes>& tensors,
                                         const std::map<std::string, std::string>& metadata) {
  const auto refused = [](const TensorBytes& tensor, std::string_view why) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("cannot write tensor {}: {}", shown(tensor.name), why));
  };
  SafetensorsPlan plan;
  for (const TensorBytes& tensor : tensors) plan.order.push_back(&tensor);
  std::ranges::sort(plan.order, {}, [](const TensorBytes* tensor) {
    return std::pair(std::numeric_limits<unsigned>::max() - bits_of(tensor->dtype), tensor->name);
  });
  Json header = Json::object();
  std::uint64_t end = 0;
  for (const TensorBytes* tensor : plan.order) {
    if (!is_utf8(tensor->name)) return refused(*tensor, "its name is not UTF-8");
    if (header.contains(tensor->name)) return refused(*tensor, "there is another of this name");
    if (tensor->name == kMetadataKey) return refused(*tensor, "the format uses its name otherwise");
    if (bytes_of(tensor->dtype, tensor->shape) != tensor->bytes.size()) {
      return refused(*tensor, fmt::format("its dtype and shape do not need the {} bytes it has",
                                          tensor->bytes.size()));
    }
    const std::uint64_t begin = std::exchange(end, end + tensor->bytes.size());
    header[tensor->name] = {{"dtype", to_string(tensor->dtype)},
                            {"shape", tensor->shape},
                            {"data_offsets", {begin, end}}};
  }
  for (const auto& [key, value] : metadata) {
    if (is_utf8(key) && is_utf8(value)) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("cannot write metadata {}: it is not UTF-8", shown(key)));
  }
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::string text = canonical_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kSafetensorsHeaderMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a safetensors header of {} bytes is over the limit of {}",
                             text.size(), kSafetensorsHeaderMax));
  }
  append_u32(static_cast<std::uint32_t>(text.size()), plan.header);
  append_u32(0, plan.header);
  append_bytes(as_bytes(text), plan.header);
  return plan;
}

Result<void> write_safetensors(sys::File& file, const std::vector<TensorBytes>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  OUTLAST_TRY_ASSIGN(const SafetensorsPlan plan, plan_safetensors(tensors, metadata));
  OUTLAST_TRY(file.write_at(plan.header, 0));
  std::uint64_t offset = plan.header.size();
  for (const TensorBytes* tensor : plan.order) {
    OUTLAST_TRY(file.write_at(tensor->bytes, offset));
    offset += tensor->bytes.size();
  }
  return file.truncate(offset);
}

}  // namespace outlast::checkpoint
