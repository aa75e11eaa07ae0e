#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "store/s3/s3_connection.h"
#include "sys/http.h"

namespace outlast::store::s3 {

// How the bytes of a request are protected on their way: what goes into the signature and which
// headers go with it.
struct Seal {
  std::string payload_hash = {};
  sys::HttpHeaders headers = {};
  std::optional<std::uint32_t> crc32c = {};  // that was sent
};

// Never hashes more than the server needs: see make_s3_store().
Seal seal(BytesView bytes, Learned::Checksums checksums, bool safe_wire);

// Takes from a successful answer whether the server keeps checksums.
void learn_checksums(const Seal& sent, const Answer& answer, Learned& learned);

// Whether the request may have been refused only because of its checksum: worth a try without.
bool may_refuse_checksums(const Answer& answer);

}  // namespace outlast::store::s3
