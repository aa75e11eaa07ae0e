#include "store/gcs/gcs_upload.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/url_encoding.h"
#include "store/call_checks.h"
#include "store/gcs/gcs_client.h"
#include "store/gcs/gcs_condition.h"
#include "store/gcs/gcs_errors.h"
#include "store/gcs/upload_session.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

class GcsUpload : public Upload {
 public:
  GcsUpload(std::string what, const UploadPlan& plan, UploadSession session)
      : what_(std::move(what)),
        plan_(plan),
        session_(std::move(session)),
        first_summed_part_(session_.stored() / plan.part_bytes) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes, const sys::CallContext& ctx) override;
  std::vector<std::uint64_t> stored_parts() const override;
  Result<std::string> complete(const sys::CallContext& ctx) override;
  Result<void> abort(const sys::CallContext& ctx) override { return session_.cancel(ctx); }
  Secret<std::string> token() const override { return session_.uri(); }

 private:
  // Where the bytes begin that are kept back.
  std::uint64_t tail_begin() const { return (plan_.size - 1) / kUploadGranule * kUploadGranule; }
  bool is_last(std::uint64_t index) const { return index + 1 == plan_.part_count(); }
  Result<void> check_same_bytes(std::uint64_t index, BytesView bytes);
  std::optional<std::uint32_t> whole_crc32c() const;

  const std::string what_;
  const UploadPlan plan_;
  UploadSession session_;
  bool is_complete_ = false;  // complete() said so
  Bytes tail_;                // the last bytes of the object, once the last part was put
  // The running checksum after each part that was put here, in order. Parts from before a
  // resumption are unknown, and with them the checksum of the whole.
  const std::uint64_t first_summed_part_;
  std::vector<std::uint32_t> sums_;
};

// A part of which something is stored must be put again as it was.
Result<void> GcsUpload::check_same_bytes(std::uint64_t index, BytesView bytes) {
  if (index < first_summed_part_) return {};
  const std::uint64_t at = index - first_summed_part_;
  const std::uint32_t sum = crc32c(bytes, at == 0 ? 0 : sums_[at - 1]);
  if (at < sums_.size() && sums_[at] != sum && session_.stored() > index * plan_.part_bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: part {} is stored already, with other bytes; abort the upload "
                             "and start again",
                             what_, index));
  }
  sums_.resize(at);
  sums_.push_back(sum);
  return {};
}

Result<void> GcsUpload::put_part(std::uint64_t index, BytesView bytes,
                                 const sys::CallContext& ctx) {
  OUTLAST_TRY(check_part(plan_, index, bytes.size()).while_doing(what_));
  OUTLAST_TRY(session_.be_certain(ctx));
  if (session_.object()) return {};  // complete already, by a call whose answer was lost
  const std::uint64_t begin = index * plan_.part_bytes;
  const std::uint64_t end = is_last(index) ? tail_begin() : begin + bytes.size();
  if (session_.stored() < begin) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: part {} cannot be put before part {}", what_, index,
                             session_.stored() / plan_.part_bytes));
  }
  OUTLAST_TRY(check_same_bytes(index, bytes));
  if (session_.stored() < end) {
    OUTLAST_TRY(
        session_.append(bytes.subspan(session_.stored() - begin, end - session_.stored()), ctx));
  }
  if (is_last(index))
    tail_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(end - begin), bytes.end());
  return {};
}

std::vector<std::uint64_t> GcsUpload::stored_parts() const {
  std::uint64_t count = session_.stored() / plan_.part_bytes;
  if (session_.object() || !tail_.empty()) {
    count = plan_.part_count();
  } else {
    count = std::min(count, plan_.part_count() - 1);
  }
  std::vector<std::uint64_t> parts(count);
  std::iota(parts.begin(), parts.end(), 0);
  return parts;
}

std::optional<std::uint32_t> GcsUpload::whole_crc32c() const {
  if (first_summed_part_ != 0 || sums_.size() != plan_.part_count()) return std::nullopt;
  return sums_.back();
}

Result<std::string> GcsUpload::complete(const sys::CallContext& ctx) {
  if (is_complete_) {
    return Error(ErrorCode::kNotFound, what_ + ": the upload is complete, and was told to be");
  }
  OUTLAST_TRY(session_.be_certain(ctx));
  const auto crc32c = whole_crc32c();
  if (!session_.object()) {
    if (tail_.empty() || session_.stored() < tail_begin()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: {} of {} parts are stored: put the others first", what_,
                               stored_parts().size(), plan_.part_count()));
    }
    const BytesView rest = BytesView(tail_).subspan(session_.stored() - tail_begin());
    OUTLAST_TRY(session_.finish(rest, crc32c, ctx));
  }
  const std::optional<ObjectInfo>& made = session_.object();
  OUTLAST_CHECK(made.has_value(), "{}: finished, but no object", what_);
  const ObjectInfo& object = *made;
  if (crc32c && object.crc32c && *object.crc32c != *crc32c) {
    return Error(ErrorCode::kCorrupt,
                 what_ + ": the server stored other bytes than were sent; remove the object");
  }
  is_complete_ = true;
  return object.version;
}

std::string upload_of(GcsClient& client, const std::string& key) {
  return "upload " + client.shown(key);
}

UploadSession open_session(GcsClient& client, const std::string& what, const UploadPlan& plan,
                           Secret<std::string> uri) {
  return {
      client, {.what = what, .size = plan.size, .condition = plan.condition.kind}, std::move(uri)};
}

}  // namespace

Result<std::unique_ptr<Upload>> start_gcs_upload(GcsClient& client, const std::string& key,
                                                 const UploadPlan& plan,
                                                 const sys::CallContext& ctx) {
  const std::string what = upload_of(client, key);
  cloud::Query query = {{"uploadType", "resumable"}, {"name", key}};
  add_condition(query, plan.condition);
  Json metadata = Json::object();
  metadata["name"] = key;
  const std::string body = canonical_json(metadata);
  const sys::HttpRequest request{
      .method = "POST",
      .url = client.upload_url(query),
      .headers = {{"Content-Type", "application/json; charset=UTF-8"},
                  {"X-Upload-Content-Type", "application/octet-stream"},
                  {"X-Upload-Content-Length", std::to_string(plan.size)}},
      .body = as_bytes(body)};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client.send(request, what, ctx));
  if (answer.status != 200 && answer.status != 201) {
    return refused({.what = what,
                    .kind = Attempt::Kind::kSession,
                    .of_bucket = true,
                    .condition = plan.condition.kind,
                    .credentials = client.credentials_origin()},
                   answer);
  }
  const auto location = sys::find_header(answer.headers, "Location");
  if (!location || !sys::parse_http_url(*location)) {
    return Error(ErrorCode::kFailed,
                 what + ": the answer does not say where to send the bytes; correct the endpoint");
  }
  return std::make_unique<GcsUpload>(
      what, plan, open_session(client, what, plan, Secret<std::string>(std::string(*location))));
}

Result<std::unique_ptr<Upload>> resume_gcs_upload(GcsClient& client, const std::string& key,
                                                  const UploadPlan& plan,
                                                  const Secret<std::string>& token,
                                                  const sys::CallContext& ctx) {
  const std::string what = upload_of(client, key);
  if (!sys::parse_http_url(token.reveal())) {
    return Error(
        ErrorCode::kNotFound,
        what + ": the token is not that of an upload to Google Cloud Storage; start again");
  }
  UploadSession session = open_session(client, what, plan, token);
  OUTLAST_TRY(session.ask(ctx));
  return std::make_unique<GcsUpload>(what, plan, std::move(session));
}

}  // namespace outlast::store::gcs
