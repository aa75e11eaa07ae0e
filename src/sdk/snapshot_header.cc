#include "sdk/snapshot_header.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/registered.h"
#include "sdk/snapshots.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {
namespace {

// The numbers of an array; nullopt if it is none, or has anything else.
std::optional<std::vector<std::uint64_t>> whole_numbers(const JsonValue* array) {
  if (array == nullptr || array->kind != JsonValue::Kind::kArray) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const JsonValue& item : array->items) {
    if (!item.whole) return std::nullopt;
    numbers.push_back(*item.whole);
  }
  return numbers;
}

std::optional<FoundTensor> read_tensor(const JsonValue& entry, std::uint64_t data_begin,
                                       std::uint64_t data_bytes) {
  const JsonValue* const dtype = entry.find("dtype");
  const auto shape = whole_numbers(entry.find("shape"));
  const auto offsets = whole_numbers(entry.find("data_offsets"));
  if (dtype == nullptr || dtype->kind != JsonValue::Kind::kString || !shape || !offsets ||
      offsets->size() != 2) {
    return std::nullopt;
  }
  const std::uint64_t begin = offsets->front();
  const std::uint64_t end = offsets->back();
  if (begin > end || end > data_bytes) return std::nullopt;
  return FoundTensor{
      .dtype = dtype->text, .shape = *shape, .begin = data_begin + begin, .bytes = end - begin};
}

std::optional<std::uint64_t> step_of(const JsonValue& metadata) {
  const JsonValue* const step = metadata.find("outlast.step");
  if (step == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = step->text.data() + step->text.size();
  const auto read = std::from_chars(step->text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::string what_to_do(std::string_view where) {
  return " (" + std::string(where) +
         "). Register the same state as the run that made it, or start a new job";
}

const FoundTensor& find_in(const SnapshotHeader& header, const std::string& name,
                           const std::string& wanted, std::string_view where) {
  const auto found = header.tensors.find(name);
  if (found != header.tensors.end()) return found->second;
  throw SnapshotError("'" + name + "' is registered as " + wanted +
                      ", and the snapshot does not have it" + what_to_do(where));
}

[[noreturn]] void refuse(const std::string& name, const std::string& wanted,
                         const FoundTensor& found, std::string_view where) {
  throw SnapshotError("'" + name + "' is registered as " + wanted +
                      ", and the snapshot has it as " + describe(found.dtype, found.shape) +
                      what_to_do(where));
}

}  // namespace

std::optional<SnapshotHeader> read_snapshot_header(std::span<const std::byte> snapshot) {
  if (snapshot.size() < kHeaderLengthBytes) return std::nullopt;
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, snapshot.data(), sizeof(header_bytes));
  if (header_bytes > kHeaderBytesMax || header_bytes > snapshot.size() - kHeaderLengthBytes) {
    return std::nullopt;
  }
  const std::uint64_t data_begin = kHeaderLengthBytes + header_bytes;
  const std::uint64_t data_bytes = snapshot.size() - data_begin;
  const auto json = read_json(
      {reinterpret_cast<const char*>(snapshot.data()) + kHeaderLengthBytes, header_bytes});
  if (!json || json->kind != JsonValue::Kind::kObject) return std::nullopt;
  SnapshotHeader header;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < json->names.size(); ++i) {
    const std::string& name = json->names[i];
    if (name == "__metadata__") {
      header.step = step_of(json->items[i]);
      continue;
    }
    const auto tensor = read_tensor(json->items[i], data_begin, data_bytes);
    if (!tensor || !header.tensors.emplace(name, *tensor).second) return std::nullopt;
    header.names.push_back(name);
    bytes += tensor->bytes;
  }
  // A file without its end has tensors beyond it, and one with more bytes than that is none of
  // ours.
  if (bytes != data_bytes) return std::nullopt;
  return header;
}

PutBack fit(const SnapshotHeader& header, const Registered& registered, std::string_view where) {
  PutBack put_back;
  std::vector<Piece> pieces;
  for (const Tensor& tensor : registered.tensors()) {
    const std::string wanted = describe(dtype_name(tensor.dtype), tensor.shape);
    const FoundTensor& found = find_in(header, tensor.name, wanted, where);
    if (found.dtype != dtype_name(tensor.dtype) || found.shape != tensor.shape ||
        found.bytes != tensor.bytes) {
      refuse(tensor.name, wanted, found, where);
    }
    pieces.push_back({.offset = found.begin, .memory = tensor.data, .bytes = tensor.bytes});
  }
  for (const Blob& blob : registered.blobs()) {
    const std::string wanted = "a blob of " + std::string(blob.is_exact ? "" : "at most ") +
                               std::to_string(blob.capacity) + " bytes";
    const FoundTensor& found = find_in(header, blob.name, wanted, where);
    const bool fits = blob.is_exact ? found.bytes == blob.capacity : found.bytes <= blob.capacity;
    if (found.dtype != "U8" || found.shape.size() != 1 || found.shape[0] != found.bytes || !fits) {
      refuse(blob.name, wanted, found, where);
    }
    put_back.blobs.emplace_back(found.begin, found.bytes);
  }
  if (header.names.size() != registered.tensors().size() + registered.blobs().size()) {
    for (const std::string& name : header.names) {
      if (registered.has(name)) continue;
      throw SnapshotError("the snapshot has '" + name + "' " +
                          describe(header.tensors.at(name).dtype, header.tensors.at(name).shape) +
                          ", which is not registered" + what_to_do(where));
    }
  }
  put_back.plan = CopyPlan(pieces);
  return put_back;
}

}  // namespace outlast::sdk
