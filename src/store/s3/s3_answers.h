#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/http.h"

// What an S3 server answers, as values. Pure; the text may be hostile. What cannot be understood is
// kFailed.
namespace outlast::store::s3 {

// Why a request was refused. Fit for a sentence: one line of UTF-8, not long.
struct Refusal {
  std::string code = {};     // "NoSuchBucket"; empty if the answer does not say
  std::string message = {};  // the server's own words
  std::string region = {};   // where the bucket is, if the answer says
  std::string request = {};  // the server's name for the request
};
// Never fails: what is not S3's XML (a proxy's page, nothing at all) gives an empty one.
Refusal read_refusal(std::string_view body);

// A page of ListObjectsV2. `next` is empty on the last one.
Result<ListPage> read_list(std::string_view body);

Result<std::string> read_upload_id(std::string_view body);

struct StoredPart {
  std::uint64_t number = 0;  // from 1
  std::uint64_t size = 0;
  std::string etag = {};  // without quotes
  std::optional<std::uint32_t> crc32c = {};
};
struct PartsPage {
  std::vector<StoredPart> parts = {};
  std::optional<std::uint64_t> next = {};  // the number to go on after; nullopt on the last page
  std::string checksum_algorithm = {};     // "CRC32C"; empty if the server keeps none
  std::string checksum_type = {};          // "FULL_OBJECT", "COMPOSITE"
};
Result<PartsPage> read_parts(std::string_view body);

// The answer to CompleteMultipartUpload: it may be a refusal although the status was 200.
struct Completion {
  std::string etag = {};  // without quotes; empty if the server does not say
  std::optional<Refusal> refusal = {};
};
Result<Completion> read_completion(std::string_view body);

// What the headers of a GET or HEAD say of the object `key`.
struct ObjectHeaders {
  ObjectInfo object = {};
  std::uint64_t offset = 0;  // of the first byte in this answer
};
Result<ObjectHeaders> read_object_headers(const std::string& key, const sys::HttpResponse& answer);

// An ETag without its quotes. kFailed for a weak one, which says less than that the bytes are
// equal, and for one that cannot be sent back.
Result<std::string> read_etag(std::string_view text);
// Whether it is a version that an answer can have given: everything else matches no object.
bool is_version(std::string_view text);

// A checksum as S3 writes it: base64 of its four bytes, the highest first. nullopt for everything
// else, such as the checksum of checksums that ends in "-N".
std::string format_crc32c(std::uint32_t crc32c);
std::optional<std::uint32_t> parse_crc32c(std::string_view text);

}  // namespace outlast::store::s3
