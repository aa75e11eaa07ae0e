#include "trainers/weights/pickle_cursor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/weight_error.h"

namespace outlast::trainers {

PickleCursor::PickleCursor(BytesView bytes, std::uint64_t offset)
    : bytes_(as_text(bytes.first(std::min(bytes.size(), kPickleBytesMax)))), offset_(offset) {}

Error PickleCursor::wrong(std::string_view what) const {
  return bad_weights(fmt::format("its pickle is not sound at byte {}: {}", operation_at(), what));
}

Result<char> PickleCursor::next_operation() {
  began_ = at_;
  OUTLAST_TRY_ASSIGN(const std::string_view code, take(1));
  return code.front();
}

Result<std::string_view> PickleCursor::take(std::uint64_t count) {
  const std::size_t left = bytes_.size() - at_;
  if (count > left && bytes_.size() == kPickleBytesMax) {
    return wrong(fmt::format("it is longer than {} bytes, which no table of tensors needs",
                             kPickleBytesMax));
  }
  if (count > left) {
    return wrong(
        fmt::format("{} bytes are expected and {} found: the file was cut short", count, left));
  }
  const std::string_view taken = bytes_.substr(at_, count);
  at_ += count;
  return taken;
}

Result<std::uint64_t> PickleCursor::take_number(std::size_t count) {
  OUTLAST_TRY_ASSIGN(const std::string_view taken, take(count));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
  }
  return number;
}

Result<std::string_view> PickleCursor::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return wrong("a line has no end: the file was cut short");
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

}  // namespace outlast::trainers
