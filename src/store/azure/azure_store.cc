#include "store/azure/azure_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/azure_signing.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_client.h"
#include "store/azure/azure_errors.h"
#include "store/azure/azure_list.h"
#include "store/azure/azure_read.h"
#include "store/azure/azure_upload.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

// What Azure would silently take for another name.
Result<void> check_azure_key(std::string_view key) {
  OUTLAST_TRY(check_key(key));
  if (key.find('\\') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument,
                 "the object's name has a '\\', which Azure takes for a '/': choose another name");
  }
  if (key.ends_with('.') || key.find("./") != std::string_view::npos) {
    return Error(
        ErrorCode::kInvalidArgument,
        "a part of the object's name ends with '.', which Azure drops: choose another name");
  }
  return {};
}

class AzureStore : public ObjectStore {
 public:
  AzureStore(AzureOptions options, sys::HttpClient& http, sys::Clock& clock,
             cloud::CredentialSource<cloud::AzureAuth>& credentials)
      : client_(std::move(options), http, clock, credentials) {}

  const Properties& properties() const override { return properties_; }
  std::string url_of(std::string_view key) const override { return client_.url_of(key); }

  Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                          const sys::CallContext& ctx) override;
  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override;
  Result<ObjectInfo> head(const std::string& key, const sys::CallContext& ctx) override;
  Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_context(client_.clock(), ctx, "list " + url_of(options.prefix)));
    return list_azure(client_, options, ctx);
  }
  Result<void> remove(const std::string& key, const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_call("remove", key, ctx));
    return remove_where(key, WriteIf::always(), ctx);
  }
  Result<void> remove_if(const std::string& key, const std::string& version,
                         const sys::CallContext& ctx) override;
  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_call("upload", key, ctx));
    OUTLAST_TRY(check_plan(plan, properties_).while_doing("upload " + url_of(key)));
    return start_azure_upload(client_, key, plan, ctx);
  }
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_call("resume the upload of", key, ctx));
    OUTLAST_TRY(check_plan(plan, properties_).while_doing("resume the upload of " + url_of(key)));
    return resume_azure_upload(client_, key, plan, token, ctx);
  }
  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  Result<void> check_call(std::string_view verb, const std::string& key,
                          const sys::CallContext& ctx) {
    const std::string what = fmt::format("{} {}", verb, url_of(key));
    OUTLAST_TRY(check_azure_key(key).while_doing(what));
    return check_context(client_.clock(), ctx, what);
  }
  Result<void> remove_where(const std::string& key, const WriteIf& condition,
                            const sys::CallContext& ctx);

  AzureClient client_;
  const Properties properties_{.kind = "Azure",
                               .start_after_is_cheap = false,
                               .signed_urls = true,
                               .put_bytes_max = 5000ULL << 20U,
                               .part_bytes_min = 1,
                               .part_bytes_max = 4000ULL << 20U,
                               .parts_max = 50'000};
};

Result<std::string> AzureStore::put(const std::string& key, BytesView bytes,
                                    const WriteIf& condition, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("put", key, ctx));
  if (bytes.size() > properties_.put_bytes_max) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("put {}: {} bytes are too many at once: upload it in parts",
                             url_of(key), bytes.size()));
  }
  const std::string digest = base64_encode(md5(bytes));
  sys::HttpHeaders headers = azure_condition(condition);
  headers.emplace_back("Content-Type", "application/octet-stream");
  headers.emplace_back("Content-MD5", digest);            // is checked
  headers.emplace_back("x-ms-blob-content-md5", digest);  // is kept, for other readers
  headers.emplace_back("x-ms-blob-type", "BlockBlob");
  headers.emplace_back(kAzureCrc32cHeader, fmt::format("{:08x}", crc32c(bytes)));
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer, client_.send({.verb = "put",
                                                             .method = "PUT",
                                                             .key = key,
                                                             .headers = std::move(headers),
                                                             .body = bytes,
                                                             .writes = true},
                                                            ctx));
  if (!answer.ok()) return azure_write_error(answer.attempt, answer.http, condition);
  return answer.written_version();
}

Result<ObjectInfo> AzureStore::get(const std::string& key, const GetOptions& options,
                                   const ByteSink& sink, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("get", key, ctx));
  const std::string what = "get " + url_of(key);
  sys::HttpHeaders headers;
  if (options.range) {
    if (options.range->length == 0) {
      return Error(ErrorCode::kInvalidArgument, what + ": a range of no bytes cannot be read");
    }
    // Azure's numbers are signed.
    constexpr std::uint64_t kFarthest = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t first = std::min(options.range->offset, kFarthest);
    const std::uint64_t last = first + std::min(options.range->length - 1, kFarthest - first);
    headers.emplace_back("x-ms-range", fmt::format("bytes={}-{}", first, last));
  }
  if (!options.if_version.empty()) {
    headers.emplace_back("If-Match", azure_etag(options.if_version));
  }
  AzureRead read(key, options, what, sink);
  const auto take = [&](const sys::HttpResponse& head, BytesView piece) {
    return read.take(head, piece);
  };
  const auto answer =
      client_.send({.verb = "get", .key = key, .headers = std::move(headers), .sink = take}, ctx);
  if (const Error* error = read.sinks_error()) return *error;
  if (!answer) return answer.error();
  if (!answer->ok()) return answer->error();
  return read.finish(answer->http);
}

Result<ObjectInfo> AzureStore::head(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("head", key, ctx));
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer,
                     client_.send({.verb = "head", .method = "HEAD", .key = key}, ctx));
  if (!answer.ok()) return answer.error();
  return parse_azure_object(key, answer.http).while_doing("head " + url_of(key));
}

Result<void> AzureStore::remove_if(const std::string& key, const std::string& version,
                                   const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("remove", key, ctx));
  if (version.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("remove {}: no version was given", url_of(key)));
  }
  auto removed = remove_where(key, WriteIf::version_is(version), ctx);
  if (removed || removed.error().code() != ErrorCode::kConditionFailed) return removed;
  // For what is not there the condition is lost, too.
  const auto found = head(key, ctx);
  if (!found && found.error().code() == ErrorCode::kNotFound) return {};
  return removed;
}

Result<void> AzureStore::remove_where(const std::string& key, const WriteIf& condition,
                                      const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer, client_.send({.verb = "remove",
                                                             .method = "DELETE",
                                                             .key = key,
                                                             .headers = azure_condition(condition),
                                                             .writes = true},
                                                            ctx));
  if (answer.ok() || parse_azure_problem(answer.http).code == "BlobNotFound") return {};
  return answer.error();
}

Result<Secret<std::string>> AzureStore::signed_url(const std::string& key, Duration valid_for,
                                                   const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("sign a URL for", key, ctx));
  const std::string what = "sign a URL for " + url_of(key);
  if (valid_for <= Duration::zero()) {
    return Error(ErrorCode::kInvalidArgument, what + ": it would have expired already");
  }
  auto auth = client_.credentials().get(ctx);
  if (!auth) return auth.error().while_doing(what);
  const auto* const key_auth = std::get_if<cloud::AzureSharedKey>(&*auth);
  if (key_auth == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 what +
                     ": that takes the account's key: set AZURE_STORAGE_KEY, or a connection "
                     "string that has it");
  }
  const Secret<std::string> query =
      cloud::sign_service_sas({.account = client_.options().account,
                               .container = client_.options().container,
                               .blob = key,
                               .permissions = "r",
                               .expires = client_.clock().wall_now() + valid_for,
                               .https_only = client_.options().endpoint.starts_with("https:")},
                              key_auth->key);
  return Secret<std::string>(client_.http_url_of(key) + "?" + query.reveal());
}

Result<WallTime> AzureStore::server_time(const sys::CallContext& ctx) {
  const std::string what = fmt::format("ask {} for the time", url_of(""));
  OUTLAST_TRY(check_context(client_.clock(), ctx, what));
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer, client_.send({.verb = "ask for the time of",
                                                             .method = "HEAD",
                                                             .query = {{"restype", "container"}}},
                                                            ctx));
  // A refusal has the time, too: that of Azure, if it was Azure that refused.
  if (!answer.ok() && !sys::find_header(answer.http.headers, "x-ms-request-id")) {
    return answer.error();
  }
  const auto date = sys::find_header(answer.http.headers, "Date");
  if (!date) return Error(ErrorCode::kFailed, what + ": the answer has no date");
  return cloud::parse_http_date(*date).while_doing(what);
}

}  // namespace

std::unique_ptr<ObjectStore> make_azure_store(
    AzureOptions options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::AzureAuth>& credentials) {
  return std::make_unique<AzureStore>(std::move(options), http, clock, credentials);
}

}  // namespace outlast::store
