#include "store/s3/s3_upload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/xml.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_connection.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_integrity.h"
#include "store/s3/s3_objects.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

// Which checksums an upload was started with.
struct UploadChecksums {
  bool of_parts = false;
  bool of_whole = false;  // the server joins those of the parts to one of the whole object
};

using Parts = std::map<std::uint64_t, StoredPart>;  // by number, from 1

// <CompleteMultipartUpload> with every part.
std::string completion_body(const Parts& parts, bool checksums) {
  std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const auto& [number, part] : parts) {
    out += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag>", number,
                       cloud::xml_escape(part.etag));
    if (checksums && part.crc32c) {
      out += fmt::format("<ChecksumCRC32C>{}</ChecksumCRC32C>", format_crc32c(*part.crc32c));
    }
    out += "</Part>";
  }
  return out + "</CompleteMultipartUpload>";
}

// The CRC-32C of the whole, if that of each part is known.
std::optional<std::uint32_t> crc32c_of(const Parts& parts) {
  std::uint32_t whole = 0;
  for (const auto& [number, part] : parts) {
    if (!part.crc32c) return std::nullopt;
    whole = crc32c_joined(whole, *part.crc32c, part.size);
  }
  return whole;
}

// The ETag that an object of these parts has by S3's rule: the MD5 of their MD5s, and their number.
// nullopt if the parts' ETags are no MD5s.
std::optional<std::string> etag_of(const Parts& parts) {
  Bytes sums;
  for (const auto& [number, part] : parts) {
    const auto sum = hex_decode(part.etag);
    if (!sum || sum->size() != 16) return std::nullopt;
    sums.insert(sums.end(), sum->begin(), sum->end());
  }
  return fmt::format("{}-{}", hex_encode(md5(sums)), parts.size());
}

// A refusal that came with the status 200, under the status that it has otherwise.
Answer refused_late(Answer answer, Refusal refusal) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kStatuses = {
      {{"PreconditionFailed", 412},
       {"ConditionalRequestConflict", 409},
       {"NoSuchUpload", 404},
       {"NoSuchKey", 404},
       {"SlowDown", 503},
       {"ServiceUnavailable", 503}}};
  const auto* const known = std::ranges::find(kStatuses, std::string_view(refusal.code),
                                              &std::pair<std::string_view, int>::first);
  answer.http.status = known == kStatuses.end() ? 500 : known->second;
  answer.refusal = std::move(refusal);
  return answer;
}

bool leaves_open(ErrorCode code) {
  return code == ErrorCode::kUnknownOutcome || code == ErrorCode::kDeadlineExceeded ||
         code == ErrorCode::kCancelled;
}

// Thread-safe.
class S3Upload final : public Upload {
 public:
  S3Upload(Connection& connection, UploadTarget target, Secret<std::string> id,
           const UploadChecksums& checksums, Parts parts)
      : connection_(connection),
        target_(std::move(target)),
        id_(std::move(id)),
        checksums_(checksums),
        sends_checksums_(checksums.of_parts),
        parts_(std::move(parts)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes, const sys::CallContext& ctx) override;
  std::vector<std::uint64_t> stored_parts() const override;
  Result<std::string> complete(const sys::CallContext& ctx) override;
  Result<void> abort(const sys::CallContext& ctx) override;
  Secret<std::string> token() const override { return id_; }

 private:
  std::string doing(Operation operation) const {
    return what(operation, connection_.url_of(target_.key));
  }
  Error not_completed(const Call& call, const Answer& answer);

  Connection& connection_;
  const UploadTarget target_;
  const Secret<std::string> id_;
  const UploadChecksums checksums_;
  std::atomic<bool> sends_checksums_;
  std::atomic<bool> over_ = false;       // completed or aborted by us
  std::atomic<bool> left_open_ = false;  // a completion whose outcome is not known
  mutable Mutex mutex_;
  Parts parts_ OUTLAST_GUARDED_BY(mutex_);
};

Result<void> S3Upload::put_part(std::uint64_t index, BytesView bytes, const sys::CallContext& ctx) {
  OUTLAST_TRY(
      check_part(target_.plan, index, bytes.size()).while_doing(doing(Operation::kPutPart)));
  using Checksums = Learned::Checksums;
  Learned& learned = connection_.learned();
  for (bool checksum = sends_checksums_;; checksum = false) {
    Checksums use = Checksums::kRefused;
    if (checksum) {
      use = learned.checksums == Checksums::kKept ? Checksums::kKept : Checksums::kUntried;
    }
    Seal sealed = seal(bytes, use, connection_.safe_wire());
    const Call call{
        .operation = Operation::kPutPart,
        .key = target_.key,
        .query = {{"partNumber", fmt::format("{}", index + 1)}, {"uploadId", id_.reveal()}},
        .headers = std::move(sealed.headers),
        .body = bytes,
        .payload_hash = sealed.payload_hash};
    OUTLAST_TRY_ASSIGN(const Answer answer, connection_.call(call, ctx));
    if (!answer.ok()) {
      if (use == Checksums::kUntried && may_refuse_checksums(answer)) continue;
      return connection_.error(call, answer);
    }
    if (checksum) {
      learn_checksums(sealed, answer, learned);
    } else {
      sends_checksums_ = false;
    }
    Result<std::string> etag =
        read_etag(sys::find_header(answer.http.headers, "ETag").value_or(""));
    if (!etag) return etag.error().while_doing(doing(Operation::kPutPart));
    const MutexLock lock(mutex_);
    parts_.insert_or_assign(index + 1, StoredPart{.number = index + 1,
                                                  .size = bytes.size(),
                                                  .etag = *std::move(etag),
                                                  .crc32c = sealed.crc32c});
    return {};
  }
}

std::vector<std::uint64_t> S3Upload::stored_parts() const {
  const MutexLock lock(mutex_);
  std::vector<std::uint64_t> out;
  out.reserve(parts_.size());
  for (const auto& [number, part] : parts_) out.push_back(number - 1);
  return out;
}

Result<std::string> S3Upload::complete(const sys::CallContext& ctx) {
  Parts parts;
  {
    const MutexLock lock(mutex_);
    parts = parts_;
  }
  if (over_) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: it was completed or aborted before",
                                                   doing(Operation::kComplete)));
  }
  if (parts.size() != target_.plan.part_count()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {} of its {} parts are missing", doing(Operation::kComplete),
                             target_.plan.part_count() - parts.size(), target_.plan.part_count()));
  }
  const WriteIf& condition = target_.plan.condition;
  if (condition.kind == WriteIf::Kind::kVersion && !is_version(condition.version)) {
    return lost(Operation::kComplete, connection_.url_of(target_.key), condition);
  }
  if (target_.looks_first) {
    OUTLAST_TRY(look_first(connection_, Operation::kComplete, target_.key, condition, ctx));
  }
  const std::string body = completion_body(parts, sends_checksums_);
  const std::string hash = sha256(as_bytes(body)).hex();
  Call call{.operation = Operation::kComplete,
            .key = target_.key,
            .query = {{"uploadId", id_.reveal()}},
            .headers = condition_headers(condition, connection_.learned().etag_form),
            .body = as_bytes(body),
            .payload_hash = hash,
            // Putting thousands of parts together takes a while.
            .stall_timeout = std::chrono::minutes(5)};
  call.headers.emplace_back("Content-Type", "application/xml");
  const auto whole = crc32c_of(parts);
  if (sends_checksums_ && checksums_.of_whole && whole) {
    call.headers.emplace_back("x-amz-checksum-crc32c", format_crc32c(*whole));
    call.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
  }
  Result<Answer> answer = connection_.call(call, ctx);
  if (!answer) {
    if (leaves_open(answer.error().code())) left_open_ = true;
    return answer.error();
  }
  if (!answer->ok()) return not_completed(call, *answer);
  Result<Completion> completion = read_completion(answer->http.body);
  if (!completion) {
    left_open_ = true;
    return Error(ErrorCode::kUnknownOutcome,
                 fmt::format("{}: {}", doing(Operation::kComplete), completion.error().sentence()));
  }
  if (const auto& refusal = completion->refusal) {
    return not_completed(call, refused_late(*std::move(answer), *refusal));
  }
  over_ = true;
  if (!completion->etag.empty()) return std::move(completion->etag);
  if (auto etag = etag_of(parts)) return *std::move(etag);
  const Result<ObjectInfo> object = head_object(connection_, target_.key, ctx);
  if (object) return object->version;
  return Error(ErrorCode::kUnknownOutcome,
               fmt::format("{}: the server does not say the version, and then: {}",
                           doing(Operation::kComplete), object.error().to_string()));
}

Error S3Upload::not_completed(const Call& call, const Answer& answer) {
  const std::string url = connection_.url_of(target_.key);
  if (lost_condition(answer, target_.plan.condition)) {
    return lost(Operation::kComplete, url, target_.plan.condition);
  }
  if (answer.refusal.code == "NoSuchUpload" && left_open_) {
    return {ErrorCode::kUnknownOutcome,
            fmt::format("{}: the server no longer has the upload, which an earlier try may have "
                        "completed: look at the object",
                        what(Operation::kComplete, url))};
  }
  Error error = connection_.error(call, answer);
  if (leaves_open(error.code())) left_open_ = true;
  return error;
}

Result<void> S3Upload::abort(const sys::CallContext& ctx) {
  const Call call{
      .operation = Operation::kAbort, .key = target_.key, .query = {{"uploadId", id_.reveal()}}};
  OUTLAST_TRY_ASSIGN(const Answer answer, connection_.call(call, ctx));
  const bool gone = answer.http.status == 404 && answer.refusal.code != "NoSuchBucket";
  if (!answer.ok() && !gone) return connection_.error(call, answer);
  over_ = true;
  return {};
}

}  // namespace

Result<std::unique_ptr<Upload>> start_upload(Connection& connection, const UploadTarget& target,
                                             const sys::CallContext& ctx) {
  const bool refused = connection.learned().checksums == Learned::Checksums::kRefused;
  // The newest form first; servers that do not know it may refuse it, or ignore it.
  for (UploadChecksums checksums{.of_parts = !refused, .of_whole = !refused};;) {
    Call call{.operation = Operation::kStartUpload, .key = target.key, .query = {{"uploads", ""}}};
    if (checksums.of_parts) call.headers.emplace_back("x-amz-checksum-algorithm", "CRC32C");
    if (checksums.of_whole) call.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
    OUTLAST_TRY_ASSIGN(const Answer answer, connection.call(call, ctx));
    if (answer.ok()) {
      Result<std::string> id = read_upload_id(answer.http.body);
      if (!id) {
        return id.error().while_doing(what(Operation::kStartUpload, connection.url_of(target.key)));
      }
      // Only what the server says that it does.
      checksums.of_whole =
          checksums.of_whole &&
          sys::find_header(answer.http.headers, "x-amz-checksum-type") == "FULL_OBJECT";
      return std::make_unique<S3Upload>(connection, target, Secret<std::string>(*std::move(id)),
                                        checksums, Parts());
    }
    if (!checksums.of_parts || !may_refuse_checksums(answer)) return connection.error(call, answer);
    checksums = {.of_parts = checksums.of_whole, .of_whole = false};
  }
}

Result<std::unique_ptr<Upload>> resume_upload(Connection& connection, const UploadTarget& target,
                                              const Secret<std::string>& token,
                                              const sys::CallContext& ctx) {
  Parts parts;
  UploadChecksums checksums;
  std::uint64_t after = 0;
  for (;;) {
    Call call{.operation = Operation::kListParts,
              .key = target.key,
              .query = {{"uploadId", token.reveal()}, {"max-parts", "1000"}}};
    if (after != 0) call.query.emplace_back("part-number-marker", fmt::format("{}", after));
    OUTLAST_TRY_ASSIGN(const Answer answer, connection.must(call, ctx));
    Result<PartsPage> page = read_parts(answer.http.body);
    if (!page) {
      return page.error().while_doing(what(Operation::kListParts, connection.url_of(target.key)));
    }
    checksums.of_parts = page->checksum_algorithm == "CRC32C";
    checksums.of_whole = checksums.of_parts && page->checksum_type == "FULL_OBJECT";
    for (StoredPart& part : page->parts) {
      // Of another plan than it was started with: put again.
      const bool planned = part.number <= target.plan.part_count() &&
                           part.size == target.plan.bytes_of(part.number - 1);
      if (planned) parts.insert_or_assign(part.number, std::move(part));
    }
    const std::uint64_t next = page->next.value_or(0);
    if (!page->next) break;
    if (next <= after) {
      return Error(ErrorCode::kFailed,
                   fmt::format("{}: the server's pages go in circles",
                               what(Operation::kListParts, connection.url_of(target.key))));
    }
    after = next;
  }
  return std::make_unique<S3Upload>(connection, target, token, checksums, std::move(parts));
}

}  // namespace outlast::store::s3
