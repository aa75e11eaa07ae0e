#include "store/s3/s3_integrity.h"

#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/hash.h"
#include "cloud/sigv4.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_connection.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

bool mentions_checksum(std::string_view text) {
  return ascii_lower(text).find("checksum") != std::string::npos;
}

}  // namespace

Seal seal(BytesView bytes, Learned::Checksums checksums, bool safe_wire) {
  using Checksums = Learned::Checksums;
  Seal out;
  if (checksums == Checksums::kRefused) {
    out.headers.emplace_back("Content-MD5", base64_encode(md5(bytes)));
  } else {
    out.crc32c = crc32c(bytes);
    out.headers.emplace_back("x-amz-checksum-crc32c", format_crc32c(*out.crc32c));
  }
  if (bytes.empty()) {
    out.payload_hash = cloud::kEmptyPayload;
  } else if (checksums == Checksums::kKept && safe_wire) {
    out.payload_hash = cloud::kUnsignedPayload;
  } else {
    out.payload_hash = sha256(bytes).hex();
  }
  return out;
}

void learn_checksums(const Seal& sent, const Answer& answer, Learned& learned) {
  using Checksums = Learned::Checksums;
  if (!sent.crc32c) {
    learned.checksums = Checksums::kRefused;
    return;
  }
  const auto echo = sys::find_header(answer.http.headers, "x-amz-checksum-crc32c");
  if (echo && parse_crc32c(*echo) == sent.crc32c) learned.checksums = Checksums::kKept;
}

bool may_refuse_checksums(const Answer& answer) {
  if (answer.http.status == 501) return true;
  return answer.http.status == 400 && answer.refusal.code != "BadDigest" &&
         answer.refusal.code != "XAmzContentChecksumMismatch" &&
         mentions_checksum(answer.refusal.message);
}

}  // namespace outlast::store::s3
