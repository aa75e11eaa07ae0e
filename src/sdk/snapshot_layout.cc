#include "sdk/snapshot_layout.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/registered.h"
#include "sdk/snapshot_header.h"
#include "sdk/snapshots.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {
namespace {

constexpr std::uint64_t kDataAlignment = 64;

struct Extent {
  std::uint64_t begin = 0;  // in the data
  std::uint64_t bytes = 0;
};

void append_entry(std::string& out, std::string_view json_name, std::string_view dtype,
                  const std::vector<std::uint64_t>& shape, const Extent& extent) {
  out += json_name;
  out += R"(:{"dtype":")";
  out += dtype;
  out += R"(","shape":[)";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(shape[i]);
  }
  out += R"(],"data_offsets":[)";
  out += std::to_string(extent.begin);
  out += ',';
  out += std::to_string(extent.begin + extent.bytes);
  out += "]},";
}

// Wider elements first, so that each begins at a multiple of its width without gaps.
std::vector<const Tensor*> in_order(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> ordered;
  ordered.reserve(tensors.size());
  for (const std::size_t width : {8U, 4U, 2U, 1U}) {
    for (const Tensor& tensor : tensors) {
      if (dtype_bytes(tensor.dtype) == width) ordered.push_back(&tensor);
    }
  }
  return ordered;
}

std::string as_json(std::string_view name) {
  std::string text;
  append_json_string(text, name);
  return text;
}

std::string tail_text(const std::vector<std::string>& names,
                      const std::vector<std::uint64_t>& lengths, std::uint64_t begin,
                      std::uint64_t step) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    append_entry(text, names[i], "U8", {lengths[i]}, {.begin = begin, .bytes = lengths[i]});
    begin += lengths[i];
  }
  text += R"("__metadata__":{"outlast.step":")" + std::to_string(step) + R"("}})";
  return text;
}

}  // namespace

SnapshotLayout::SnapshotLayout(const Registered& registered) {
  head_.assign(kHeaderLengthBytes, '\0');
  head_ += '{';
  std::vector<Piece> pieces;
  pieces.reserve(registered.tensors().size());
  std::uint64_t at = 0;
  for (const Tensor* tensor : in_order(registered.tensors())) {
    append_entry(head_, as_json(tensor->name), dtype_name(tensor->dtype), tensor->shape,
                 {.begin = at, .bytes = tensor->bytes});
    pieces.push_back({.offset = at, .memory = tensor->data, .bytes = tensor->bytes});
    at += tensor->bytes;
  }
  std::vector<std::uint64_t> capacities;
  std::uint64_t blob_bytes = 0;
  for (const Blob& blob : registered.blobs()) {
    blob_names_.push_back(as_json(blob.name));
    capacities.push_back(blob.capacity);
    blob_bytes += blob.capacity;
  }
  // No tail is longer than that of the longest blobs and the last step there is.
  const std::string longest =
      tail_text(blob_names_, capacities, at, std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t unpadded = head_.size() + longest.size();
  data_begin_ = (unpadded + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  const std::uint64_t header_bytes = data_begin_ - kHeaderLengthBytes;
  if (header_bytes > kHeaderBytesMax) {
    throw SnapshotError("the names and shapes of " +
                        std::to_string(registered.tensors().size() + registered.blobs().size()) +
                        " tensors make a header of " + std::to_string(header_bytes) +
                        " bytes, and " + std::to_string(kHeaderBytesMax) +
                        " is the most: register fewer, larger ones");
  }
  std::memcpy(head_.data(), &header_bytes, sizeof(header_bytes));
  for (Piece& piece : pieces) piece.offset += data_begin_;
  plan_ = CopyPlan(pieces);
  blobs_begin_ = data_begin_ + at;
  bytes_max_ = blobs_begin_ + blob_bytes;
}

std::string SnapshotLayout::tail(std::uint64_t step, const std::vector<std::string>& blobs) const {
  std::vector<std::uint64_t> lengths;
  lengths.reserve(blobs.size());
  for (const std::string& blob : blobs) lengths.push_back(blob.size());
  std::string text = tail_text(blob_names_, lengths, blobs_begin_ - data_begin_, step);
  text.resize(data_begin_ - head_.size(), ' ');
  return text;
}

}  // namespace outlast::sdk
