// Reads and writes safetensors files, so that Python's package can be compared to us:
//
//   safetensors_peer read FILE      prints what is in it, as JSON, with the bytes in hex
//   safetensors_peer write FILE     writes what such JSON on its input says
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/posix_world.h"

namespace outlast::checkpoint {
namespace {

constexpr std::uint64_t kFileMax = 64U << 20U;

Result<void> read(sys::FileSystem& files, const std::string& path) {
  OUTLAST_TRY_ASSIGN(const auto opened, files.open(path, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const Safetensors file, read_safetensors(*opened));
  OUTLAST_TRY_ASSIGN(const std::string bytes, sys::read_file(files, path, kFileMax));
  Json tensors = Json::array();
  for (const Tensor& tensor : file.tensors) {
    const std::string_view data =
        std::string_view(bytes).substr(tensor.begin, tensor.end - tensor.begin);
    tensors.push_back({{"name", tensor.name},
                       {"dtype", to_string(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"data", hex_encode(as_bytes(data))}});
  }
  std::cout << canonical_json({{"tensors", std::move(tensors)}, {"metadata", file.metadata}})
            << "\n";
  return {};
}

Result<void> write(sys::FileSystem& files, const std::string& path) {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text, {.bytes_max = kFileMax}));
  std::vector<Bytes> data;
  std::vector<TensorBytes> tensors;
  for (const Json& tensor : json["tensors"]) {
    const auto dtype = parse_dtype(tensor["dtype"].get<std::string>());
    if (!dtype) return Error(ErrorCode::kInvalidArgument, "no such dtype");
    OUTLAST_TRY_ASSIGN(Bytes bytes, hex_decode(tensor["data"].get<std::string>()));
    data.push_back(std::move(bytes));
    tensors.push_back({.name = tensor["name"].get<std::string>(),
                       .dtype = *dtype,
                       .shape = tensor["shape"].get<std::vector<std::uint64_t>>(),
                       .bytes = data.back()});
  }
  OUTLAST_TRY_ASSIGN(const auto opened, files.open(path, sys::OpenMode::kTruncate));
  return write_safetensors(*opened, tensors,
                           json["metadata"].get<std::map<std::string, std::string>>());
}

}  // namespace
}  // namespace outlast::checkpoint

int main(int count, char** words) {
  const std::string_view verb = count == 3 ? words[1] : "";
  if (verb != "read" && verb != "write") {
    std::cerr << "usage: safetensors_peer read|write FILE\n";
    return 2;
  }
  outlast::sys::RealWorld real;
  outlast::sys::FileSystem& files = real.world().files;
  const auto done = verb == "read" ? outlast::checkpoint::read(files, words[2])
                                   : outlast::checkpoint::write(files, words[2]);
  if (!done) std::cerr << done.error().to_string() << "\n";
  return done ? 0 : 1;
}
