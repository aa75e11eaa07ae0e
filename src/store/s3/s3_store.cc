#include "store/s3/s3_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "store/s3/s3_address.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_connection.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_objects.h"
#include "store/s3/s3_upload.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {
namespace s3 {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint64_t kGiB = 1U << 30U;
constexpr std::uint32_t kPageMax = 1000;
constexpr Duration kSignedUrlMax = std::chrono::hours(7 * 24);

Properties properties_of(bool judges_all_conditions) {
  return {.kind = "S3",
          .conditional_remove = judges_all_conditions,
          .conditional_upload = judges_all_conditions,
          .signed_urls = true,
          .put_bytes_max = 5 * kGiB,
          .part_bytes_min = 5 * kMiB,
          .part_bytes_max = 5 * kGiB,
          .parts_max = 10'000};
}

// Thread-safe.
class S3Store final : public ObjectStore {
 public:
  S3Store(const S3Options& options, Address address, sys::HttpClient& http, sys::Clock& clock,
          cloud::CredentialSource<cloud::AwsKeys>& credentials)
      : properties_(properties_of(options.judges_all_conditions.value_or(address.amazon))),
        region_known_(!options.region.empty() || !address.amazon),
        clock_(clock),
        connection_(options, std::move(address), http, clock, credentials) {}

  const Properties& properties() const override { return properties_; }
  std::string url_of(std::string_view key) const override { return connection_.url_of(key); }

  Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                          const sys::CallContext& ctx) override {
    OUTLAST_TRY(begin(Operation::kPut, key, ctx));
    if (bytes.size() > properties_.put_bytes_max) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: {} bytes are too many for one request: upload it in parts",
                               what(Operation::kPut, url_of(key)), bytes.size()));
    }
    return put_object(connection_, key, bytes, condition, ctx);
  }

  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override {
    OUTLAST_TRY(begin(Operation::kGet, key, ctx));
    return get_object(connection_, key, options, sink, ctx);
  }

  Result<ObjectInfo> head(const std::string& key, const sys::CallContext& ctx) override {
    OUTLAST_TRY(begin(Operation::kHead, key, ctx));
    return head_object(connection_, key, ctx);
  }

  Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) override;

  Result<void> remove(const std::string& key, const sys::CallContext& ctx) override {
    OUTLAST_TRY(begin(Operation::kRemove, key, ctx));
    return remove_object(connection_, key, ctx);
  }

  Result<void> remove_if(const std::string& key, const std::string& version,
                         const sys::CallContext& ctx) override {
    OUTLAST_TRY(begin(Operation::kRemove, key, ctx));
    return remove_object_if(connection_, key, version, !properties_.conditional_remove, ctx);
  }

  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(const UploadTarget target,
                       upload_target(Operation::kStartUpload, key, plan, ctx));
    return s3::start_upload(connection_, target, ctx);
  }

  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(const UploadTarget target,
                       upload_target(Operation::kListParts, key, plan, ctx));
    return s3::resume_upload(connection_, target, token, ctx);
  }

  Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                         const sys::CallContext& ctx) override;
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  // What is refused before anything is sent.
  Result<void> begin(Operation operation, const std::string& key, const sys::CallContext& ctx) {
    const std::string doing = what(operation, url_of(key));
    OUTLAST_TRY(check_key(key).while_doing(doing));
    return check_context(clock_, ctx, doing);
  }
  Result<UploadTarget> upload_target(Operation operation, const std::string& key,
                                     const UploadPlan& plan, const sys::CallContext& ctx) {
    OUTLAST_TRY(begin(operation, key, ctx));
    OUTLAST_TRY(check_plan(plan, properties_).while_doing(what(operation, url_of(key))));
    return UploadTarget{.key = key, .plan = plan, .looks_first = !properties_.conditional_upload};
  }

  const Properties properties_;
  const bool region_known_;
  sys::Clock& clock_;
  Connection connection_;
};

Result<ListPage> S3Store::list(const ListOptions& options, const sys::CallContext& ctx) {
  const std::string doing = what(Operation::kList, url_of(options.prefix));
  OUTLAST_TRY(check_context(clock_, ctx, doing));
  if (options.page_max == 0) {
    return Error(ErrorCode::kInvalidArgument, doing + ": a page of no objects never ends");
  }
  const std::uint32_t page_max = std::min(options.page_max, kPageMax);
  Call call{
      .operation = Operation::kList,
      .query = {
          {"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", fmt::format("{}", page_max)}}};
  if (!options.prefix.empty()) call.query.emplace_back("prefix", options.prefix);
  if (options.folders) call.query.emplace_back("delimiter", "/");
  if (!options.start_after.empty()) call.query.emplace_back("start-after", options.start_after);
  if (!options.page_token.empty()) {
    call.query.emplace_back("continuation-token", options.page_token);
  }
  OUTLAST_TRY_ASSIGN(const Answer answer, connection_.must(call, ctx));
  return read_list(answer.http.body).while_doing(doing);
}

Result<Secret<std::string>> S3Store::signed_url(const std::string& key, Duration valid_for,
                                                const sys::CallContext& ctx) {
  OUTLAST_TRY(begin(Operation::kGet, key, ctx));
  if (valid_for < std::chrono::seconds(1) || valid_for > kSignedUrlMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("sign a URL for {}: it can be valid from one second to seven days",
                             url_of(key)));
  }
  // A URL for the wrong region would be refused where nobody can mend it.
  if (!region_known_ && !connection_.learned().bucket_exists) {
    OUTLAST_TRY(connection_.call({.operation = Operation::kHead, .key = key}, ctx));
  }
  return connection_.presign(key, valid_for, ctx);
}

Result<WallTime> S3Store::server_time(const sys::CallContext& ctx) {
  const std::string doing = what(Operation::kHeadBucket, url_of(""));
  OUTLAST_TRY(check_context(clock_, ctx, doing));
  const Call call{.operation = Operation::kHeadBucket};
  OUTLAST_TRY_ASSIGN(const Answer answer, connection_.must(call, ctx));
  return cloud::parse_http_date(sys::find_header(answer.http.headers, "Date").value_or(""))
      .while_doing(doing + ": the server does not tell the time");
}

}  // namespace
}  // namespace s3

Result<std::unique_ptr<ObjectStore>> make_s3_store(
    const S3Options& options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::AwsKeys>& credentials) {
  OUTLAST_TRY_ASSIGN(s3::Address address, s3::address_of(options));
  return std::make_unique<s3::S3Store>(options, std::move(address), http, clock, credentials);
}

}  // namespace outlast::store
