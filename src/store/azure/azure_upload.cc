#include "store/azure/azure_upload.h"

#include <fmt/core.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_client.h"
#include "store/azure/azure_errors.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

constexpr std::size_t kNonceChars = 16;
constexpr std::string_view kBeginMark = "begin-";
constexpr std::string_view kAbortMark = "abort-";

std::uint32_t checksum_of(const UploadPlan& plan) {
  return crc32c(
      as_bytes(fmt::format("{} {} {} {}", plan.size, plan.part_bytes,
                           static_cast<int>(plan.condition.kind), plan.condition.version)));
}

// Two uploads of one object must not share it by chance; nothing else depends on it.
std::string make_nonce(AzureClient& client, const std::string& key) {
  const auto wall = client.clock().wall_now().time_since_epoch().count();
  const auto mono = client.clock().mono_now().time_since_epoch().count();
  return sha256(as_bytes(fmt::format("{} {} {} {}", wall, mono, client.next_number(), key)))
      .hex()
      .substr(0, kNonceChars);
}

std::string content_md5(BytesView bytes) {
  return base64_encode(md5(bytes));
}

Result<void> put_block(AzureClient& client, const std::string& key, const AzureBlockId& id,
                       BytesView bytes, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer,
                     client.send({.verb = "put a part of",
                                  .method = "PUT",
                                  .key = key,
                                  .query = {{"comp", "block"}, {"blockid", format_block_id(id)}},
                                  .headers = {{"Content-MD5", content_md5(bytes)}},
                                  .body = bytes,
                                  .writes = true},
                                 ctx));
  if (!answer.ok()) return answer.error();
  return {};
}

class AzureUpload : public Upload {
 public:
  struct Identity {
    std::string key;
    UploadPlan plan;
    std::string nonce;
  };
  using Parts = std::map<std::uint64_t, AzureBlockId>;
  AzureUpload(AzureClient& client, Identity identity, Parts parts)
      : client_(client), identity_(std::move(identity)), parts_(std::move(parts)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes,
                        const sys::CallContext& ctx) override {
    const std::string what = fmt::format("put part {} of {}", index, url());
    OUTLAST_TRY(check_context(client_.clock(), ctx, what));
    OUTLAST_TRY(check_part(identity_.plan, index, bytes.size()).while_doing(what));
    const AzureBlockId id{.nonce = identity_.nonce,
                          .index = static_cast<std::uint32_t>(index),
                          .crc32c = crc32c(bytes)};
    OUTLAST_TRY(put_block(client_, identity_.key, id, bytes, ctx));
    const MutexLock lock(mutex_);
    parts_.insert_or_assign(index, id);
    return {};
  }

  std::vector<std::uint64_t> stored_parts() const override {
    const MutexLock lock(mutex_);
    std::vector<std::uint64_t> indices;
    for (const auto& [index, id] : parts_) indices.push_back(index);
    return indices;
  }

  Result<std::string> complete(const sys::CallContext& ctx) override;

  Result<void> abort(const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_context(client_.clock(), ctx, "abort the upload of " + url()));
    {
      const MutexLock lock(mutex_);
      if (over_) return {};
    }
    OUTLAST_TRY(put_block(client_, identity_.key,
                          {.nonce = identity_.nonce,
                           .kind = AzureBlockId::Kind::kAbort,
                           .crc32c = checksum_of(identity_.plan)},
                          as_bytes("x"), ctx));
    const MutexLock lock(mutex_);
    over_ = true;
    return {};
  }

  Secret<std::string> token() const override { return Secret<std::string>(identity_.nonce); }

 private:
  std::string url() const { return client_.url_of(identity_.key); }
  Error parts_are_gone(const AzureAnswer& answer, const sys::CallContext& ctx);

  AzureClient& client_;
  const Identity identity_;
  mutable Mutex mutex_;
  Parts parts_ OUTLAST_GUARDED_BY(mutex_);
  bool over_ OUTLAST_GUARDED_BY(mutex_) = false;
};

Result<std::string> AzureUpload::complete(const sys::CallContext& ctx) {
  const std::string what = "complete the upload of " + url();
  OUTLAST_TRY(check_context(client_.clock(), ctx, what));
  std::vector<std::string> ids;
  std::uint32_t whole = 0;
  {
    const MutexLock lock(mutex_);
    if (over_) {
      return Error(ErrorCode::kNotFound, what + ": it was completed or aborted before");
    }
    if (parts_.size() != identity_.plan.part_count()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: {} of {} parts are missing", what,
                      identity_.plan.part_count() - parts_.size(), identity_.plan.part_count()));
    }
    for (const auto& [index, id] : parts_) {
      ids.push_back(format_block_id(id));
      whole = crc32c_joined(whole, id.crc32c, identity_.plan.bytes_of(index));
    }
  }
  const std::string body = azure_block_list(ids);
  sys::HttpHeaders headers = azure_condition(identity_.plan.condition);
  headers.emplace_back("Content-Type", "application/xml");
  headers.emplace_back("Content-MD5", content_md5(as_bytes(body)));
  headers.emplace_back("x-ms-blob-content-type", "application/octet-stream");
  headers.emplace_back(kAzureCrc32cHeader, fmt::format("{:08x}", whole));
  OUTLAST_TRY_ASSIGN(const AzureAnswer answer, client_.send({.verb = "complete the upload of",
                                                             .method = "PUT",
                                                             .key = identity_.key,
                                                             .query = {{"comp", "blocklist"}},
                                                             .headers = std::move(headers),
                                                             .body = as_bytes(body),
                                                             .writes = true},
                                                            ctx));
  if (!answer.ok()) {
    if (parse_azure_problem(answer.http).code == "InvalidBlockList") {
      return parts_are_gone(answer, ctx);
    }
    return azure_write_error(answer.attempt, answer.http, identity_.plan.condition);
  }
  const MutexLock lock(mutex_);
  over_ = true;
  return answer.written_version();
}

// Another write of the object drops all blocks that wait for it, and Azure may look for them before
// it judges the condition: then that write is why ours must fail, if there was a condition.
Error AzureUpload::parts_are_gone(const AzureAnswer& answer, const sys::CallContext& ctx) {
  const WriteIf& condition = identity_.plan.condition;
  if (condition.kind == WriteIf::Kind::kAlways) return answer.error();
  const auto head = client_.send({.verb = "look at", .method = "HEAD", .key = identity_.key}, ctx);
  if (!head) return head.error();
  const bool there = head->ok();
  if (!there && head->http.status != 404) return head->error();
  const std::string version =
      azure_version(sys::find_header(head->http.headers, "ETag").value_or(""));
  const bool lost =
      condition.kind == WriteIf::Kind::kAbsent ? there : !there || version != condition.version;
  return lost ? azure_condition_lost(answer.attempt, condition) : answer.error();
}

}  // namespace

std::string format_block_id(const AzureBlockId& id) {
  std::string middle = fmt::format("{:06}", id.index);
  if (id.kind == AzureBlockId::Kind::kBegin) middle = kBeginMark;
  if (id.kind == AzureBlockId::Kind::kAbort) middle = kAbortMark;
  return base64_encode(as_bytes(fmt::format("{}{}{:08x}", id.nonce, middle, id.crc32c)));
}

std::optional<AzureBlockId> parse_block_id(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != kNonceChars + 6 + 8) return std::nullopt;
  const std::string_view raw = as_text(*bytes);
  const std::string_view middle = raw.substr(kNonceChars, 6);
  AzureBlockId id{.nonce = std::string(raw.substr(0, kNonceChars))};
  if (middle == kBeginMark) {
    id.kind = AzureBlockId::Kind::kBegin;
  } else if (middle == kAbortMark) {
    id.kind = AzureBlockId::Kind::kAbort;
  } else if (std::from_chars(middle.begin(), middle.end(), id.index).ec != std::errc()) {
    return std::nullopt;
  }
  const std::string_view crc = raw.substr(kNonceChars + 6);
  if (std::from_chars(crc.begin(), crc.end(), id.crc32c, 16).ec != std::errc()) return std::nullopt;
  // What we would not have written is not ours.
  if (format_block_id(id) != text) return std::nullopt;
  return id;
}

Result<std::unique_ptr<Upload>> start_azure_upload(AzureClient& client, const std::string& key,
                                                   const UploadPlan& plan,
                                                   const sys::CallContext& ctx) {
  std::string nonce = make_nonce(client, key);
  OUTLAST_TRY(
      put_block(client, key,
                {.nonce = nonce, .kind = AzureBlockId::Kind::kBegin, .crc32c = checksum_of(plan)},
                as_bytes("x"), ctx)
          .while_doing("begin the upload of " + client.url_of(key)));
  return std::make_unique<AzureUpload>(
      client, AzureUpload::Identity{.key = key, .plan = plan, .nonce = std::move(nonce)},
      AzureUpload::Parts());
}

Result<std::unique_ptr<Upload>> resume_azure_upload(AzureClient& client, const std::string& key,
                                                    const UploadPlan& plan,
                                                    const Secret<std::string>& token,
                                                    const sys::CallContext& ctx) {
  const std::string what = "resume the upload of " + client.url_of(key);
  OUTLAST_TRY_ASSIGN(
      const AzureAnswer answer,
      client.send({.verb = "resume the upload of",
                   .key = key,
                   .query = {{"comp", "blocklist"}, {"blocklisttype", "uncommitted"}},
                   .long_answer = true},
                  ctx));
  const Error over(ErrorCode::kNotFound, what +
                                             ": there is nothing left of it: it was completed or "
                                             "aborted, the object was written meanwhile, or it "
                                             "is older than a week; begin again");
  if (!answer.ok()) {
    return parse_azure_problem(answer.http).code == "BlobNotFound" ? over : answer.error();
  }
  OUTLAST_TRY_ASSIGN(const std::vector<AzureBlock> blocks,
                     parse_azure_blocks(answer.http.body).while_doing(what));
  AzureUpload::Parts parts;
  std::map<std::uint64_t, std::size_t> times_put;
  std::optional<std::uint32_t> begun_with;
  for (const AzureBlock& block : blocks) {
    const std::optional<AzureBlockId> id = parse_block_id(block.id);
    if (!id || id->nonce != token.reveal()) continue;
    if (id->kind == AzureBlockId::Kind::kAbort) return over;
    if (id->kind == AzureBlockId::Kind::kBegin) {
      begun_with = id->crc32c;
    } else if (id->index < plan.part_count() && block.size == plan.bytes_of(id->index)) {
      parts.insert_or_assign(id->index, *id);
      ++times_put[id->index];
    }
  }
  if (!begun_with) return over;
  if (*begun_with != checksum_of(plan)) {
    return Error(ErrorCode::kInvalidArgument, what + ": it was begun with another plan");
  }
  // Put twice with different bytes, and which came last is not known: to be put again.
  for (const auto& [index, times] : times_put) {
    if (times > 1) parts.erase(index);
  }
  return std::make_unique<AzureUpload>(
      client, AzureUpload::Identity{.key = key, .plan = plan, .nonce = token.reveal()},
      std::move(parts));
}

}  // namespace outlast::store
