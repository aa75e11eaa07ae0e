#include "store/memory_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "store/read_verifier.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::store {
namespace {

// Small enough that no reader can take one piece for the whole.
constexpr std::size_t kPieceBytes = 64U << 10U;

class MemoryUpload : public Upload {
 public:
  struct Source {
    MemoryBucket& bucket;
    sys::Clock& clock;
    std::string url;
  };
  MemoryUpload(Source source, const UploadPlan& plan, std::string id,
               std::vector<std::uint64_t> stored)
      : source_(std::move(source)), plan_(plan), id_(std::move(id)), stored_(std::move(stored)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes,
                        const sys::CallContext& ctx) override {
    const std::string what = fmt::format("put part {} of {}", index, source_.url);
    OUTLAST_TRY(check_context(source_.clock, ctx, what));
    OUTLAST_TRY(check_part(plan_, index, bytes.size()).while_doing(what));
    OUTLAST_TRY(
        source_.bucket.put_part(id_, index, Bytes(bytes.begin(), bytes.end())).while_doing(what));
    const MutexLock lock(mutex_);
    const auto at = std::lower_bound(stored_.begin(), stored_.end(), index);
    if (at == stored_.end() || *at != index) stored_.insert(at, index);
    return {};
  }
  std::vector<std::uint64_t> stored_parts() const override {
    const MutexLock lock(mutex_);
    return stored_;
  }
  Result<std::string> complete(const sys::CallContext& ctx) override {
    const std::string what = fmt::format("complete the upload of {}", source_.url);
    OUTLAST_TRY(check_context(source_.clock, ctx, what));
    return source_.bucket.complete_upload(id_, source_.clock.wall_now()).while_doing(what);
  }
  Result<void> abort(const sys::CallContext& ctx) override {
    OUTLAST_TRY(
        check_context(source_.clock, ctx, fmt::format("abort the upload of {}", source_.url)));
    source_.bucket.abort_upload(id_);
    return {};
  }
  Secret<std::string> token() const override { return Secret<std::string>(id_); }

 private:
  const Source source_;
  const UploadPlan plan_;
  const std::string id_;
  mutable Mutex mutex_;
  std::vector<std::uint64_t> stored_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace

Properties memory_store_properties() {
  return {.kind = "memory",
          .put_bytes_max = 5ULL << 30U,
          .part_bytes_min = 1,
          .part_bytes_max = 5ULL << 30U};
}

MemoryStore::MemoryStore(MemoryBucket& bucket, sys::Clock& clock)
    : MemoryStore(bucket, clock, Options()) {}

MemoryStore::MemoryStore(MemoryBucket& bucket, sys::Clock& clock, Options options)
    : bucket_(bucket), clock_(clock), options_(std::move(options)) {}

std::string MemoryStore::url_of(std::string_view key) const {
  return options_.url + std::string(key);
}

Result<void> MemoryStore::check_call(std::string_view verb, const std::string& key,
                                     const sys::CallContext& ctx) {
  const std::string what = fmt::format("{} {}", verb, url_of(key));
  OUTLAST_TRY(check_key(key).while_doing(what));
  return check_context(clock_, ctx, what);
}

Result<std::string> MemoryStore::put(const std::string& key, BytesView bytes,
                                     const WriteIf& condition, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("put", key, ctx));
  if (bytes.size() > options_.properties.put_bytes_max) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("put {}: {} bytes are too many at once: upload it in parts",
                             url_of(key), bytes.size()));
  }
  const WallTime now = clock_.wall_now();
  return bucket_.put(key, Bytes(bytes.begin(), bytes.end()), condition, now)
      .while_doing("put " + url_of(key));
}

Result<ObjectInfo> MemoryStore::get(const std::string& key, const GetOptions& options,
                                    const ByteSink& sink, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("get", key, ctx));
  const std::string what = "get " + url_of(key);
  OUTLAST_TRY_ASSIGN(const MemoryBucket::Snapshot object,
                     bucket_.find(key, options.if_version).while_doing(what));
  ByteRange range{.offset = 0, .length = object.info.size};
  if (options.range) {
    OUTLAST_TRY_ASSIGN(range, clip_range(*options.range, object.info.size).while_doing(what));
  }
  ReadVerifier verifier(options, what);
  BytesView rest = BytesView(*object.bytes).subspan(range.offset, range.length);
  while (!rest.empty()) {
    const BytesView piece = rest.first(std::min(rest.size(), kPieceBytes));
    verifier.add(piece);
    OUTLAST_TRY(sink(object.info, piece));
    rest = rest.subspan(piece.size());
  }
  OUTLAST_TRY(verifier.check(object.info));
  return object.info;
}

Result<ObjectInfo> MemoryStore::head(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("head", key, ctx));
  OUTLAST_TRY_ASSIGN(MemoryBucket::Snapshot object,
                     bucket_.find(key, {}).while_doing("head " + url_of(key)));
  return std::move(object.info);
}

Result<ListPage> MemoryStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  const std::string what = "list " + url_of(options.prefix);
  OUTLAST_TRY(check_context(clock_, ctx, what));
  if (options.page_max == 0) {
    return Error(ErrorCode::kInvalidArgument, what + ": a page of no objects never ends");
  }
  return bucket_.list(options);
}

Result<void> MemoryStore::remove(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("remove", key, ctx));
  return bucket_.remove(key, {});
}

Result<void> MemoryStore::remove_if(const std::string& key, const std::string& version,
                                    const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("remove", key, ctx));
  if (version.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("remove {}: no version was given", url_of(key)));
  }
  return bucket_.remove(key, version).while_doing("remove " + url_of(key));
}

Result<std::unique_ptr<Upload>> MemoryStore::start_upload(const std::string& key,
                                                          const UploadPlan& plan,
                                                          const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("upload", key, ctx));
  OUTLAST_TRY(check_plan(plan, options_.properties).while_doing("upload " + url_of(key)));
  return std::make_unique<MemoryUpload>(
      MemoryUpload::Source{.bucket = bucket_, .clock = clock_, .url = url_of(key)}, plan,
      bucket_.start_upload(key, plan), std::vector<std::uint64_t>());
}

Result<std::unique_ptr<Upload>> MemoryStore::resume_upload(const std::string& key,
                                                           const UploadPlan& plan,
                                                           const Secret<std::string>& token,
                                                           const sys::CallContext& ctx) {
  OUTLAST_TRY(check_call("resume the upload of", key, ctx));
  OUTLAST_TRY_ASSIGN(std::vector<std::uint64_t> stored,
                     bucket_.resume_upload(token.reveal(), key, plan)
                         .while_doing("resume the upload of " + url_of(key)));
  return std::make_unique<MemoryUpload>(
      MemoryUpload::Source{.bucket = bucket_, .clock = clock_, .url = url_of(key)}, plan,
      token.reveal(), std::move(stored));
}

Result<Secret<std::string>> MemoryStore::signed_url(const std::string& key, Duration /*valid_for*/,
                                                    const sys::CallContext& /*ctx*/) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("sign a URL for {}: an object in memory has none", url_of(key)));
}

Result<WallTime> MemoryStore::server_time(const sys::CallContext& ctx) {
  OUTLAST_TRY(check_context(clock_, ctx, "ask " + url_of("") + " for the time"));
  return clock_.wall_now();
}

}  // namespace outlast::store
