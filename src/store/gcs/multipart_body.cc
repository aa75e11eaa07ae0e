#include "store/gcs/multipart_body.h"

#include <fmt/core.h>
#include <string.h>  // memmem

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"

namespace outlast::store::gcs {
namespace {

bool occurs_in(BytesView bytes, const std::string& text) {
  return !bytes.empty() && memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
}

std::string unused_boundary(std::string_view metadata_json, BytesView bytes) {
  for (std::uint64_t n = 0;; ++n) {
    std::string boundary = fmt::format("outlast-part-{}", n);
    if (!occurs_in(bytes, boundary) && metadata_json.find(boundary) == std::string_view::npos) {
      return boundary;
    }
  }
}

}  // namespace

MultipartBody::MultipartBody(std::string_view metadata_json, BytesView bytes) {
  const std::string boundary = unused_boundary(metadata_json, bytes);
  content_type_ = "multipart/related; boundary=" + boundary;
  head_ = fmt::format(
      "--{0}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{1}\r\n"
      "--{0}\r\nContent-Type: application/octet-stream\r\n\r\n",
      boundary, metadata_json);
  tail_ = fmt::format("\r\n--{}--\r\n", boundary);
  pieces_ = {as_bytes(head_), bytes, as_bytes(tail_)};
}

std::uint64_t MultipartBody::size() const {
  std::uint64_t bytes = 0;
  for (const BytesView piece : pieces_) bytes += piece.size();
  return bytes;
}

Result<std::size_t> MultipartBody::read_at(std::span<std::byte> buffer, std::uint64_t offset) {
  std::size_t done = 0;
  for (const BytesView piece : pieces_) {
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const BytesView rest = piece.subspan(offset);
    const std::size_t bytes = std::min(rest.size(), buffer.size() - done);
    std::copy_n(rest.begin(), bytes, buffer.begin() + static_cast<std::ptrdiff_t>(done));
    done += bytes;
    offset = 0;
    if (done == buffer.size()) break;
  }
  return done;
}

}  // namespace outlast::store::gcs
