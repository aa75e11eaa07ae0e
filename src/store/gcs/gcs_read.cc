#include "store/gcs/gcs_read.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "cloud/url_encoding.h"
#include "store/call_checks.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/gcs_client.h"
#include "store/gcs/gcs_condition.h"
#include "store/gcs/gcs_errors.h"
#include "store/object_store.h"
#include "store/read_verifier.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

// "bytes=5-9"; to the end if that is where it would overflow.
std::string range_header(const ByteRange& range) {
  if (range.length > std::numeric_limits<std::uint64_t>::max() - range.offset) {
    return fmt::format("bytes={}-", range.offset);
  }
  return fmt::format("bytes={}-{}", range.offset, range.offset + range.length - 1);
}

// Hands on what an answer brings, once its headers have been understood.
class Delivery {
 public:
  Delivery(std::string key, std::string what, const GetOptions& options, const ByteSink& sink)
      : key_(std::move(key)),
        what_(std::move(what)),
        options_(options),
        sink_(sink),
        verifier_(options, what_) {}

  // For HttpRequest::sink. Any error ends the call; stopped_by() tells whose it was.
  Result<void> take(const sys::HttpResponse& answer, BytesView piece) {
    const Result<void> taken = take_piece(answer, piece);
    if (!taken && !enough_) stopped_by_ = taken.error();
    return taken;
  }

  // Also for an answer without a body, after it.
  Result<void> begin(const sys::HttpResponse& answer) {
    if (begun_) return {};
    OUTLAST_TRY_ASSIGN(ReadHeaders headers, read_headers(answer).while_doing(what_));
    if (!options_.if_version.empty() && headers.generation != options_.if_version) {
      return Error(ErrorCode::kConditionFailed, what_ + ": the object has another version by now");
    }
    wanted_ = {.offset = 0, .length = headers.size};
    if (options_.range) {
      OUTLAST_TRY_ASSIGN(wanted_, clip_range(*options_.range, headers.size).while_doing(what_));
    }
    cut_ = answer.status != 206 && options_.range.has_value();
    if (!cut_ && headers.offset != wanted_.offset) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{}: bytes from {} on came instead of those from {} on", what_,
                               headers.offset, wanted_.offset));
    }
    position_ = headers.offset;
    begun_ = true;
    object_ = ObjectInfo{.key = key_,
                         .size = headers.size,
                         .version = std::move(headers.generation),
                         .modified = headers.modified,
                         .crc32c = headers.crc32c};
    return {};
  }

  bool enough() const { return enough_; }
  const std::optional<Error>& stopped_by() const { return stopped_by_; }
  Result<ObjectInfo> finish() {
    OUTLAST_TRY(verifier_.check(object_));
    return std::move(object_);
  }

 private:
  Result<void> take_piece(const sys::HttpResponse& answer, BytesView piece) {
    OUTLAST_TRY(begin(answer));
    const std::uint64_t first = position_;
    position_ += piece.size();
    if (!cut_) return hand_on(piece);
    const std::uint64_t end = wanted_.offset + wanted_.length;
    const std::uint64_t from = std::clamp(wanted_.offset, first, position_);
    const std::uint64_t to = std::clamp(end, from, position_);
    if (from < to) OUTLAST_TRY(hand_on(piece.subspan(from - first, to - from)));
    enough_ = position_ >= end;
    // Ends the call, which saves the rest of the object; enough() tells that nothing is wrong.
    if (enough_) return Error(ErrorCode::kCancelled, "the range is complete");
    return {};
  }

  Result<void> hand_on(BytesView piece) {
    if (piece.empty()) return {};
    verifier_.add(piece);
    return sink_(object_, piece);
  }

  const std::string key_;
  const std::string what_;
  const GetOptions& options_;
  const ByteSink& sink_;
  ReadVerifier verifier_;
  bool begun_ = false;
  ObjectInfo object_;
  ByteRange wanted_;
  std::uint64_t position_ = 0;  // in the object, of the next byte that comes
  bool cut_ = false;            // the whole object comes, and only a part is wanted
  bool enough_ = false;
  std::optional<Error> stopped_by_;
};

}  // namespace

Result<ObjectInfo> read_gcs_object(GcsClient& client, const std::string& key,
                                   const GetOptions& options, const ByteSink& sink,
                                   const sys::CallContext& ctx) {
  const std::string what = "get " + client.shown(key);
  if (options.range && options.range->length == 0) {
    return Error(ErrorCode::kInvalidArgument, what + ": the range is empty");
  }
  cloud::Query query = {{"alt", "media"}};
  Attempt attempt{.what = what};
  if (!options.if_version.empty()) {
    query.emplace_back("ifGenerationMatch", generation_to_match(options.if_version));
    attempt.condition = WriteIf::Kind::kVersion;
  }
  Delivery delivery(key, what, options, sink);
  sys::HttpRequest request{.url = client.object_url(key, query)};
  // An object that was stored compressed is wanted as it was stored.
  request.headers.emplace_back("Accept-Encoding", "gzip");
  if (options.range) request.headers.emplace_back("Range", range_header(*options.range));
  request.sink = [&](const sys::HttpResponse& answer, BytesView piece) {
    return delivery.take(answer, piece);
  };
  const Result<sys::HttpResponse> answer = client.send(request, what, ctx);
  if (delivery.enough()) return delivery.finish();
  if (const std::optional<Error>& stopped_by = delivery.stopped_by()) return *stopped_by;
  if (!answer) return answer.error();
  if (answer->status != 200 && answer->status != 206) {
    attempt.credentials = client.credentials_origin();
    return refused(attempt, *answer);
  }
  OUTLAST_TRY(delivery.begin(*answer));
  return delivery.finish();
}

}  // namespace outlast::store::gcs
