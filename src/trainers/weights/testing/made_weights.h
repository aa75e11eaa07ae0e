#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/stored_zip.h"
#include "trainers/weights/weight_file.h"

// Files of weights in tests, made byte by byte.
namespace outlast::trainers::testing {

inline Bytes bytes_of(std::string_view text) {
  const BytesView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

// Counts up: 0, 1, 2, …
inline WeightTensor counting(std::string name, checkpoint::Dtype dtype,
                             std::vector<std::uint64_t> shape) {
  std::size_t bytes = checkpoint::bits_of(dtype) / 8;
  for (const std::uint64_t length : shape) bytes *= length;
  WeightTensor tensor = {.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
  for (std::size_t i = 0; i < bytes; ++i) tensor.data.push_back(static_cast<std::byte>(i));
  return tensor;
}

inline Bytes zip_of(const std::vector<ZipEntry>& entries) {
  const ZipPlan plan = plan_stored_zip(entries);
  Bytes file;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    file.insert(file.end(), plan.headers[i].begin(), plan.headers[i].end());
    file.insert(file.end(), entries[i].content.begin(), entries[i].content.end());
  }
  file.insert(file.end(), plan.end.begin(), plan.end.end());
  return file;
}

// A text as a pickle has it, if it is short.
inline std::string text_op(std::string_view text) {
  std::string op = "X";
  op += static_cast<char>(text.size());
  return op.append(3, '\0').append(text);
}

// A call of _rebuild_tensor_v2: what stands for the offset, the shape and the strides is given as
// operations.
struct TensorOps {
  std::string storage = "ctorch\nFloatStorage\n";
  std::string key = "0";
  std::string elements = "K\x06";
  std::string_view view = "";  // of old files
  std::string offset = std::string("K\0", 2);
  std::string shape = "K\x02K\x03\x86";
  std::string stride = "K\x03K\x01\x86";
};
inline std::string tensor_op(const TensorOps& ops) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text_op("storage") + ops.storage +
         text_op(ops.key) + text_op("cpu") + ops.elements + std::string(ops.view) + "tQ" +
         ops.offset + ops.shape + ops.stride + "\x89" + "ccollections\nOrderedDict\n)RtR";
}

// A .pth file with this pickle and one storage of six floats, whose bytes count up.
inline Bytes pth_of(std::string_view pickle) {
  const WeightTensor storage = counting("", checkpoint::Dtype::kF32, {6});
  return zip_of({{.name = "a/data.pkl", .content = as_bytes(pickle)},
                 {.name = "a/data/0", .content = storage.data},
                 {.name = "a/version", .content = as_bytes("3\n")}});
}

inline std::string eight_bytes(std::uint64_t number) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

// The same in the format of old.
inline Bytes legacy_pth_of(std::string_view object, bool little_endian = true) {
  const WeightTensor storage = counting("", checkpoint::Dtype::kF32, {6});
  std::string file("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  file += "\x80\x02M\xe9\x03.";
  file += "\x80\x02}(" + text_op("little_endian") + (little_endian ? "\x88" : "\x89") + "u.";
  file += object;
  file += "\x80\x02](" + text_op("0") + "e.";
  file += eight_bytes(6);
  file += as_text(storage.data);
  return bytes_of(file);
}

}  // namespace outlast::trainers::testing
