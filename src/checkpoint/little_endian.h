#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/encoding.h"

// Numbers as the binary formats have them: least significant byte first.
namespace outlast::checkpoint {

inline void put_u32(std::uint32_t number, Bytes& out, std::size_t offset) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out[offset + i] = static_cast<std::byte>(number >> (8 * i));
  }
}

inline void append_bytes(BytesView bytes, Bytes& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

inline void append_u32(std::uint32_t number, Bytes& out) {
  out.resize(out.size() + sizeof number);
  put_u32(number, out, out.size() - sizeof number);
}

// Reads on from the beginning; nullopt when there are not enough bytes left, and then nothing was
// read. Confined to its owner.
class LittleEndianReader {
 public:
  explicit LittleEndianReader(BytesView bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size(); }
  std::optional<std::uint8_t> u8() { return number<std::uint8_t>(); }
  std::optional<std::uint32_t> u32() { return number<std::uint32_t>(); }
  std::optional<std::uint64_t> u64() { return number<std::uint64_t>(); }
  std::optional<BytesView> take(std::size_t count) {
    if (bytes_.size() < count) return std::nullopt;
    const BytesView taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

 private:
  template <std::unsigned_integral Number>
  std::optional<Number> number() {
    const std::optional<BytesView> taken = take(sizeof(Number));
    if (!taken) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      value |= std::to_integer<std::uint64_t>((*taken)[i]) << (8 * i);
    }
    return static_cast<Number>(value);
  }

  BytesView bytes_;
};

}  // namespace outlast::checkpoint
