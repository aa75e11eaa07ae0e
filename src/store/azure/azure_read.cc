#include "store/azure/azure_read.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/azure/azure_answers.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store {

AzureRead::AzureRead(const std::string& key, const GetOptions& options, const std::string& what,
                     const ByteSink& sink)
    : key_(key), options_(options), what_(what), sink_(sink), verifier_(options, what) {}

Result<void> AzureRead::begin(const sys::HttpResponse& answer) {
  begun_ = true;
  if (options_.range) {
    const std::string_view range =
        sys::find_header(answer.headers, "Content-Range").value_or("nothing");
    if (answer.status != 206 ||
        !range.starts_with(fmt::format("bytes {}-", options_.range->offset))) {
      return Error(ErrorCode::kFailed,
                   what_ + ": another range came than was asked for: is this Azure?");
    }
  }
  OUTLAST_TRY_ASSIGN(object_, parse_azure_object(key_, answer).while_doing(what_));
  // Of a range it would be the range's.
  if (!options_.range && !object_.crc32c) {
    md5_expected_ = sys::find_header(answer.headers, "Content-MD5").value_or("");
  }
  return {};
}

Result<void> AzureRead::take(const sys::HttpResponse& answer, BytesView piece) {
  if (!begun_) OUTLAST_TRY(begin(answer));
  verifier_.add(piece);
  if (!md5_expected_.empty()) md5_.update(piece);
  auto taken = sink_(object_, piece);
  if (!taken) sinks_error_ = taken.error();
  return taken;
}

Result<ObjectInfo> AzureRead::finish(const sys::HttpResponse& answer) {
  if (!begun_) OUTLAST_TRY(begin(answer));
  // Azurite gives nothing, and calls it a success, where the range begins at the very end.
  if (options_.range) {
    OUTLAST_TRY(clip_range(*options_.range, object_.size).while_doing(what_));
  }
  OUTLAST_TRY(verifier_.check(object_));
  if (!md5_expected_.empty() && base64_encode(md5_.finish()) != md5_expected_) {
    return Error(ErrorCode::kCorrupt,
                 what_ +
                     ": the bytes do not have the MD5 of those that were stored: read it again, "
                     "and suspect the store if that does not help");
  }
  return object_;
}

}  // namespace outlast::store
