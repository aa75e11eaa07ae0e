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
#include "store/call_checks.h"
#include "store/object_store.h"
#include "store/read_verifier.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_connection.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_objects.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

sys::HttpHeaders read_headers(const GetOptions& options) {
  sys::HttpHeaders out;
  if (options.range) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t first = std::min(options.range->offset, kMax);
    const std::uint64_t last = first + std::min(options.range->length - 1, kMax - first);
    out.emplace_back("Range", fmt::format("bytes={}-{}", first, last));
  } else {
    // With a range, the checksum would be of who knows what.
    out.emplace_back("x-amz-checksum-mode", "ENABLED");
  }
  if (!options.if_version.empty()) {
    out.emplace_back("If-Match", "\"" + options.if_version + "\"");
  }
  return out;
}

// What is being read, if it is what was asked for.
Result<ObjectInfo> begin_read(const std::string& key, const GetOptions& options,
                              const sys::HttpResponse& answer) {
  OUTLAST_TRY_ASSIGN(ObjectHeaders headers, read_object_headers(key, answer));
  ByteRange asked{.offset = 0, .length = headers.object.size};
  if (options.range) {
    OUTLAST_TRY_ASSIGN(asked, clip_range(*options.range, headers.object.size));
  }
  const bool whole = asked.offset == 0 && asked.length == headers.object.size;
  if (headers.offset != asked.offset || (answer.status != 206 && !whole)) {
    return Error(ErrorCode::kFailed,
                 "the server gives another range than was asked for: it cannot be relied on");
  }
  if (!options.if_version.empty() && headers.object.version != options.if_version) {
    return Error(ErrorCode::kConditionFailed,
                 fmt::format("it is no longer the version {}", options.if_version));
  }
  return std::move(headers.object);
}

}  // namespace

Result<ObjectInfo> get_object(Connection& connection, const std::string& key,
                              const GetOptions& options, const ByteSink& sink,
                              const sys::CallContext& ctx) {
  const std::string doing = what(Operation::kGet, connection.url_of(key));
  if (options.range) {
    const auto possible = clip_range(*options.range, std::numeric_limits<std::uint64_t>::max());
    if (!possible) return possible.error().while_doing(doing);
  }
  if (!options.if_version.empty() && !is_version(options.if_version)) {
    return lost(Operation::kGet, connection.url_of(key), WriteIf::version_is(options.if_version));
  }
  ReadVerifier verifier(options, doing);
  std::optional<ObjectInfo> object;
  Call call{.operation = Operation::kGet, .key = key, .headers = read_headers(options)};
  call.sink = [&](const sys::HttpResponse& answer, BytesView piece) -> Result<void> {
    if (piece.empty()) return {};
    if (!object) {
      OUTLAST_TRY_ASSIGN(object, begin_read(key, options, answer));
    }
    verifier.add(piece);
    return sink(*object, piece);
  };
  OUTLAST_TRY_ASSIGN(const Answer answer, connection.must(call, ctx));
  if (!object) {
    Result<ObjectInfo> empty = begin_read(key, options, answer.http);
    if (!empty) return empty.error().while_doing(doing);
    object = *std::move(empty);
  }
  OUTLAST_TRY(verifier.check(*object));
  return *std::move(object);
}

Result<ObjectInfo> head_object(Connection& connection, const std::string& key,
                               const sys::CallContext& ctx) {
  const Call call{
      .operation = Operation::kHead, .key = key, .headers = {{"x-amz-checksum-mode", "ENABLED"}}};
  OUTLAST_TRY_ASSIGN(const Answer answer, connection.must(call, ctx));
  Result<ObjectHeaders> headers = read_object_headers(key, answer.http);
  if (!headers) {
    return headers.error().while_doing(what(Operation::kHead, connection.url_of(key)));
  }
  return std::move(headers->object);
}

}  // namespace outlast::store::s3
