#include "store/gcs/gcs_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "store/call_checks.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/gcs_client.h"
#include "store/gcs/gcs_condition.h"
#include "store/gcs/gcs_errors.h"
#include "store/gcs/gcs_read.h"
#include "store/gcs/gcs_signed_url.h"
#include "store/gcs/gcs_upload.h"
#include "store/gcs/multipart_body.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

using gcs::Attempt;

constexpr std::uint64_t kObjectBytesMax = 5ULL << 40U;
constexpr std::uint32_t kPageMax = 1000;
// A thousand names of a thousand bytes each, escaped.
constexpr std::uint64_t kListBytesMax = 16U << 20U;
constexpr std::string_view kObjectFields = "name,size,generation,crc32c,updated";

Properties gcs_properties(bool signed_urls) {
  return {.kind = "GCS",
          .parts_in_order = true,
          .signed_urls = signed_urls,
          .put_bytes_max = kObjectBytesMax,
          .part_bytes_min = gcs::kUploadGranule,
          .part_bytes_max = 1ULL << 30U,
          .part_granule = gcs::kUploadGranule,
          .parts_max = kObjectBytesMax / gcs::kUploadGranule};
}

// startOffset is the first key that may be given. No key holds anything below a blank.
std::string first_key_after(const std::string& key) {
  constexpr std::size_t kKeyBytesMax = 1024;
  return key.size() < kKeyBytesMax ? key + " " : key;
}

// For servers that do not heed startOffset.
void drop_up_to(const std::string& start_after, ListPage& page) {
  std::erase_if(page.objects, [&](const ObjectInfo& object) { return object.key <= start_after; });
  std::erase_if(page.folders, [&](const std::string& folder) {
    return folder < start_after && !start_after.starts_with(folder);
  });
}

class GcsStore : public ObjectStore {
 public:
  GcsStore(const GcsOptions& options, sys::HttpClient& http, sys::Clock& clock,
           cloud::CredentialSource<cloud::BearerToken>& credentials, cloud::GcpSigner* signer)
      : client_({.bucket = options.bucket, .endpoint = options.endpoint}, http, credentials),
        clock_(clock),
        signer_(signer),
        properties_(gcs_properties(signer != nullptr)) {}

  const Properties& properties() const override { return properties_; }
  std::string url_of(std::string_view key) const override { return client_.shown(key); }
  Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                          const sys::CallContext& ctx) override;
  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override;
  Result<ObjectInfo> head(const std::string& key, const sys::CallContext& ctx) override;
  Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) override;
  Result<void> remove(const std::string& key, const sys::CallContext& ctx) override;
  Result<void> remove_if(const std::string& key, const std::string& version,
                         const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override;
  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  Result<void> check_call(const std::string& what, const std::string& key,
                          const sys::CallContext& ctx);
  Error refused(Attempt attempt, const sys::HttpResponse& answer) {
    attempt.credentials = client_.credentials_origin();
    return gcs::refused(attempt, answer);
  }
  Result<void> remove_matching(const std::string& key, const cloud::Query& query,
                               const sys::CallContext& ctx);

  gcs::GcsClient client_;
  sys::Clock& clock_;
  cloud::GcpSigner* const signer_;
  const Properties properties_;
};

Result<void> GcsStore::check_call(const std::string& what, const std::string& key,
                                  const sys::CallContext& ctx) {
  OUTLAST_TRY(check_key(key).while_doing(what));
  return check_context(clock_, ctx, what);
}

Result<std::string> GcsStore::put(const std::string& key, BytesView bytes, const WriteIf& condition,
                                  const sys::CallContext& ctx) {
  const std::string what = "put " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  if (bytes.size() > properties_.put_bytes_max) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {} bytes are more than an object may have", what, bytes.size()));
  }
  const std::uint32_t sum = crc32c(bytes);
  Json metadata = Json::object();
  metadata["name"] = key;
  metadata["crc32c"] = gcs::format_crc32c(sum);
  gcs::MultipartBody body(canonical_json(metadata), bytes);
  cloud::Query query = {{"uploadType", "multipart"}};
  gcs::add_condition(query, condition);
  const sys::HttpRequest request{.method = "POST",
                                 .url = client_.upload_url(query),
                                 .headers = {{"Content-Type", body.content_type()}},
                                 .streamed_body = &body};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client_.send(request, what, ctx));
  if (answer.status != 200 && answer.status != 201) {
    return refused({.what = what,
                    .kind = Attempt::Kind::kWrite,
                    .of_bucket = true,
                    .condition = condition.kind},
                   answer);
  }
  const auto object = gcs::read_object(answer.body);
  if (!object) {
    return Error(ErrorCode::kUnknownOutcome,
                 fmt::format("{}: the server took the object, but its answer makes no sense ({}); "
                             "look before repeating",
                             what, object.error().to_string()));
  }
  if (object->size != bytes.size() || object->crc32c.value_or(sum) != sum) {
    return Error(ErrorCode::kCorrupt,
                 what + ": the server stored other bytes than were sent; remove the object");
  }
  return object->version;
}

Result<ObjectInfo> GcsStore::get(const std::string& key, const GetOptions& options,
                                 const ByteSink& sink, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("get " + url_of(key), key, ctx));
  return gcs::read_gcs_object(client_, key, options, sink, ctx);
}

Result<ObjectInfo> GcsStore::head(const std::string& key, const sys::CallContext& ctx) {
  const std::string what = "head " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  const sys::HttpRequest request{
      .url = client_.object_url(key, {{"fields", std::string(kObjectFields)}})};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client_.send(request, what, ctx));
  if (answer.status != 200) return refused({.what = what}, answer);
  return gcs::read_object(answer.body).while_doing(what);
}

Result<ListPage> GcsStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  const std::string what = "list " + url_of(options.prefix);
  OUTLAST_TRY(check_context(clock_, ctx, what));
  if (options.page_max == 0) {
    return Error(ErrorCode::kInvalidArgument, what + ": a page of no objects never ends");
  }
  cloud::Query query = {{"fields", fmt::format("items({}),prefixes,nextPageToken", kObjectFields)},
                        {"maxResults", std::to_string(std::min(options.page_max, kPageMax))}};
  if (!options.prefix.empty()) query.emplace_back("prefix", options.prefix);
  if (options.folders) query.emplace_back("delimiter", "/");
  if (!options.start_after.empty()) {
    query.emplace_back("startOffset", first_key_after(options.start_after));
  }
  if (!options.page_token.empty()) query.emplace_back("pageToken", options.page_token);
  const sys::HttpRequest request{.url = client_.list_url(query),
                                 .gathered_bytes_max = kListBytesMax};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client_.send(request, what, ctx));
  if (answer.status != 200) return refused({.what = what, .of_bucket = true}, answer);
  OUTLAST_TRY_ASSIGN(ListPage page, gcs::read_list(answer.body).while_doing(what));
  drop_up_to(options.start_after, page);
  return page;
}

Result<void> GcsStore::remove_matching(const std::string& key, const cloud::Query& query,
                                       const sys::CallContext& ctx) {
  const std::string what = "remove " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  const sys::HttpRequest request{.method = "DELETE", .url = client_.object_url(key, query)};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client_.send(request, what, ctx));
  if (answer.status == 200 || answer.status == 204) return {};
  if (answer.status == 404 && !gcs::is_missing_bucket(answer)) return {};
  return refused({.what = what,
                  .kind = Attempt::Kind::kWrite,
                  .condition = query.empty() ? WriteIf::Kind::kAlways : WriteIf::Kind::kVersion},
                 answer);
}

Result<void> GcsStore::remove(const std::string& key, const sys::CallContext& ctx) {
  return remove_matching(key, {}, ctx);
}

Result<void> GcsStore::remove_if(const std::string& key, const std::string& version,
                                 const sys::CallContext& ctx) {
  if (version.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("remove {}: no version was given", url_of(key)));
  }
  Result<void> removed =
      remove_matching(key, {{"ifGenerationMatch", gcs::generation_to_match(version)}}, ctx);
  if (removed || removed.error().code() != ErrorCode::kConditionFailed) return removed;
  // Some servers say so of what is not there at all, which is as good as removed.
  const auto there = head(key, ctx);
  return !there && there.error().code() == ErrorCode::kNotFound ? Result<void>() : removed;
}

Result<std::unique_ptr<Upload>> GcsStore::start_upload(const std::string& key,
                                                       const UploadPlan& plan,
                                                       const sys::CallContext& ctx) {
  const std::string what = "upload " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  OUTLAST_TRY(check_plan(plan, properties_).while_doing(what));
  return gcs::start_gcs_upload(client_, key, plan, ctx);
}

Result<std::unique_ptr<Upload>> GcsStore::resume_upload(const std::string& key,
                                                        const UploadPlan& plan,
                                                        const Secret<std::string>& token,
                                                        const sys::CallContext& ctx) {
  const std::string what = "resume the upload of " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  OUTLAST_TRY(check_plan(plan, properties_).while_doing(what));
  return gcs::resume_gcs_upload(client_, key, plan, token, ctx);
}

Result<Secret<std::string>> GcsStore::signed_url(const std::string& key, Duration valid_for,
                                                 const sys::CallContext& ctx) {
  const std::string what = "sign a URL for " + url_of(key);
  OUTLAST_TRY(check_call(what, key, ctx));
  if (signer_ == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 what +
                     ": that needs the key of a service account; let "
                     "GOOGLE_APPLICATION_CREDENTIALS name its key file");
  }
  return gcs::sign_url({.endpoint = client_.endpoint(),
                        .bucket = client_.bucket(),
                        .key = key,
                        .email = signer_->email(),
                        .now = clock_.wall_now(),
                        .valid_for = valid_for},
                       *signer_, ctx)
      .while_doing(what);
}

Result<WallTime> GcsStore::server_time(const sys::CallContext& ctx) {
  const std::string what = fmt::format("ask {} for the time", url_of(""));
  OUTLAST_TRY(check_context(clock_, ctx, what));
  // Every answer is dated, a refusal too.
  const sys::HttpRequest request{
      .url = client_.list_url({{"fields", "nextPageToken"}, {"maxResults", "1"}})};
  OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, client_.send(request, what, ctx));
  const auto date = sys::find_header(answer.headers, "Date");
  return cloud::parse_http_date(date.value_or("")).while_doing(what);
}

}  // namespace

std::unique_ptr<ObjectStore> make_gcs_store(
    const GcsOptions& options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::BearerToken>& credentials, cloud::GcpSigner* signer) {
  return std::make_unique<GcsStore>(options, http, clock, credentials, signer);
}

}  // namespace outlast::store
