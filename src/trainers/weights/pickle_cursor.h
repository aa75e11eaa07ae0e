#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"

namespace outlast::trainers {

// Reads on in the bytes of a pickle, operation by operation; its errors name the byte, in the file,
// where the current one began. Confined to its owner; the bytes must outlive it and what it gives.
class PickleCursor {
 public:
  // `offset`: where the bytes lie in their file. Not more than kPickleBytesMax of them are looked
  // at.
  PickleCursor(BytesView bytes, std::uint64_t offset);

  Result<char> next_operation();
  Result<std::string_view> take(std::uint64_t count);
  // Of `count` bytes, at most 8, the least significant first.
  Result<std::uint64_t> take_number(std::size_t count);
  // Up to the next '\n', which is left out.
  Result<std::string_view> take_line();

  std::size_t taken() const { return at_; }
  std::size_t size() const { return bytes_.size(); }
  std::uint64_t operation_at() const { return offset_ + began_; }
  Error wrong(std::string_view what) const;

 private:
  std::string_view bytes_;
  std::uint64_t offset_ = 0;
  std::size_t at_ = 0;
  std::size_t began_ = 0;
};

}  // namespace outlast::trainers
