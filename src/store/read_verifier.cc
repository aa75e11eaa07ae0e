#include "store/read_verifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/object_store.h"

namespace outlast::store {

ReadVerifier::ReadVerifier(const GetOptions& options, std::string what)
    : options_(options), what_(std::move(what)) {}

void ReadVerifier::add(BytesView piece) {
  bytes_ += piece.size();
  if (!options_.range) crc32c_ = crc32c(piece, crc32c_);
}

Result<void> ReadVerifier::check(const ObjectInfo& object) const {
  std::uint64_t expected = object.size;
  if (options_.range) {
    const std::uint64_t begin = std::min(options_.range->offset, object.size);
    expected = std::min(options_.range->length, object.size - begin);
  }
  if (bytes_ < expected) {
    return Error(ErrorCode::kUnknownOutcome,
                 fmt::format("{}: only {} of {} bytes came: read again", what_, bytes_, expected));
  }
  if (bytes_ > expected) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: {} bytes came where {} were asked for", what_, bytes_, expected));
  }
  if (!options_.range && object.crc32c && *object.crc32c != crc32c_) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: the bytes have the CRC-32C {:08x}, those that were stored had "
                             "{:08x}: read it again, and suspect the store if that does not help",
                             what_, crc32c_, *object.crc32c));
  }
  return {};
}

}  // namespace outlast::store
