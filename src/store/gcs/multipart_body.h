#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/http.h"

namespace outlast::store::gcs {

// An object's metadata and its bytes as one body, multipart/related, without copying the bytes.
// `bytes` must outlive it. Confined to the call that sends it.
class MultipartBody : public sys::HttpBody {
 public:
  MultipartBody(std::string_view metadata_json, BytesView bytes);
  MultipartBody(const MultipartBody&) = delete;
  MultipartBody& operator=(const MultipartBody&) = delete;

  // With the boundary, which occurs nowhere in the bytes.
  const std::string& content_type() const { return content_type_; }
  std::uint64_t size() const override;
  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) override;

 private:
  std::string content_type_;
  std::string head_;
  std::string tail_;
  std::array<BytesView, 3> pieces_;
};

}  // namespace outlast::store::gcs
