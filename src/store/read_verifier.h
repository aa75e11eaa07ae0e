#pragma once

#include <cstdint>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "store/object_store.h"

namespace outlast::store {

// Checks what a get() delivered against what the store says of the object: the number of bytes, and
// for a whole object the checksum, where the store keeps one. Confined to the read.
class ReadVerifier {
 public:
  // `what` begins the sentence: "get s3://bucket/key".
  ReadVerifier(const GetOptions& options, std::string what);

  // The next bytes, before or after the sink had them.
  void add(BytesView piece);
  // How many there were so far.
  std::uint64_t bytes() const { return bytes_; }
  // At the end. kUnknownOutcome if bytes are missing, as for a connection that broke: read again.
  // kCorrupt if there are too many, or they are not those that were stored.
  Result<void> check(const ObjectInfo& object) const;

 private:
  const GetOptions options_;
  const std::string what_;
  std::uint64_t bytes_ = 0;
  std::uint32_t crc32c_ = 0;
};

}  // namespace outlast::store
