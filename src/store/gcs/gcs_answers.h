#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/http.h"

// What Google Cloud Storage answers, as values. Pure; the text may be hostile.
namespace outlast::store::gcs {

// An object's metadata: name, size and generation must be there; crc32c and updated are taken if
// they are. kCorrupt otherwise.
Result<ObjectInfo> read_object(std::string_view json);

// A page of a listing, as it was sent: nothing is left out or put in order. kCorrupt if it is none.
Result<ListPage> read_list(std::string_view json);

// Why a request was refused. Fit for a sentence: one line, no control characters, not long.
struct Refusal {
  std::string reason = {};   // "conditionNotMet"; empty if the answer does not say
  std::string message = {};  // Google's own words, or the text of another page
};
// Never fails: what is not Google's JSON (a proxy's page, nothing at all) gives what it can.
Refusal read_refusal(std::string_view body);

// What the headers of a read say of the object.
struct ReadHeaders {
  std::uint64_t size = 0;    // of the whole object
  std::uint64_t offset = 0;  // of the first byte in this answer
  std::string generation = {};
  std::optional<std::uint32_t> crc32c = {};
  WallTime modified = {};
};
// kCorrupt if they do not say how large the object is, or a 206 not which part it is.
Result<ReadHeaders> read_headers(const sys::HttpResponse& answer);

// How many bytes an upload session holds, from the Range header of a 308: none without one.
// kCorrupt if it is malformed.
Result<std::uint64_t> read_stored_bytes(const sys::HttpResponse& answer);

// A checksum as Google writes it: base64 of its four bytes, the highest first.
std::string format_crc32c(std::uint32_t crc32c);
std::optional<std::uint32_t> parse_crc32c(std::string_view text);

// A generation as Google writes it: 1 to 2^63 - 1, in digits, without zeros before it. 0 is none:
// it means "must not exist" wherever a generation is asked for.
bool is_generation(std::string_view text);

}  // namespace outlast::store::gcs
