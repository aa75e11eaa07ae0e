#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/object_store.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr std::uint64_t kStateBytesMax = 64U << 10U;

class ObjectTarget : public Target {
 public:
  ObjectTarget(ObjectStore& store, sys::FileSystem& files, std::string key,
               std::string state_folder)
      : store_(store),
        files_(files),
        key_(std::move(key)),
        name_(store.url_of(key_)),
        state_folder_(std::move(state_folder)) {}

  const std::string& name() const override { return name_; }
  PartBounds bounds() const override {
    const Properties& properties = store_.properties();
    return {.part_bytes_min = properties.part_bytes_min,
            .part_granule = properties.part_granule,
            .parts_max = properties.parts_max,
            .in_order = properties.parts_in_order};
  }

  Result<void> put(BytesView whole, const sys::CallContext& ctx) override {
    OUTLAST_TRY(store_.put(key_, whole, WriteIf::always(), ctx));
    return {};
  }

  Result<std::vector<StoredPart>> begin(const UploadPlan& plan, const std::string& source_identity,
                                        const sys::CallContext& ctx) override {
    plan_ = plan;
    if (!state_folder_.empty()) {
      state_path_ = sys::join_path(
          state_folder_,
          sha256(as_bytes(name_ + '\n' + source_identity)).hex().substr(0, 32) + ".json");
      if (const std::optional<Secret<std::string>> token = kept_token()) {
        Result<std::unique_ptr<Upload>> resumed = store_.resume_upload(key_, plan, *token, ctx);
        // An upload that the store has dropped is no loss but of time.
        if (resumed) {
          upload_ = *std::move(resumed);
        } else if (resumed.error().code() != ErrorCode::kNotFound) {
          return std::move(resumed).error();
        }
      }
    }
    if (upload_ == nullptr) {
      OUTLAST_TRY_ASSIGN(upload_, store_.start_upload(key_, plan, ctx));
      OUTLAST_TRY(keep_token());
    }
    std::vector<StoredPart> stored;
    for (const std::uint64_t index : upload_->stored_parts()) stored.push_back({.index = index});
    return stored;
  }

  Result<std::uint32_t> copy_part(std::uint64_t index, Source& source, Bytes& buffer,
                                  const sys::CallContext& ctx) override {
    // As a whole: its checksum goes ahead of it, and it may have to be sent again.
    buffer.resize(plan_.bytes_of(index));
    OUTLAST_TRY(source.read(buffer, index * plan_.part_bytes, ctx));
    OUTLAST_TRY(upload_->put_part(index, buffer, ctx));
    return outlast::crc32c(buffer);
  }

  Result<bool> finish(std::uint32_t crc32c, const sys::CallContext& ctx) override {
    Result<std::string> version = upload_->complete(ctx);
    if (!version) {
      if (version.error().code() == ErrorCode::kCorrupt) {
        // A later copy must not go on with parts that are damaged.
        static_cast<void>(upload_->abort(ctx));
        forget_token();
      }
      return std::move(version).error();
    }
    forget_token();
    OUTLAST_TRY_ASSIGN(const ObjectInfo object, store_.head(key_, ctx));
    if (object.size != plan_.size || (object.crc32c && *object.crc32c != crc32c)) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{} is not what was copied to it: {} bytes and another checksum "
                               "than the source; copy it again",
                               name_, object.size));
    }
    return object.crc32c.has_value();
  }

 private:
  std::optional<Secret<std::string>> kept_token() {
    Result<std::string> text = sys::read_file(files_, state_path_, kStateBytesMax);
    if (!text) return std::nullopt;
    const Result<Json> state = parse_json(*text);
    if (!state || json_uint(*state, "size").value_or(0) != plan_.size ||
        json_uint(*state, "part_bytes").value_or(0) != plan_.part_bytes) {
      return std::nullopt;
    }
    Result<std::string> token = json_string(*state, "token");
    if (!token) return std::nullopt;
    return Secret<std::string>(*std::move(token));
  }

  void forget_token() {
    if (!state_path_.empty()) static_cast<void>(files_.remove_file(state_path_));
  }

  Result<void> keep_token() {
    if (state_path_.empty()) return {};
    const Json state = {{"url", name_},
                        {"size", plan_.size},
                        {"part_bytes", plan_.part_bytes},
                        {"token", upload_->token().reveal()}};
    OUTLAST_TRY(sys::make_dirs(files_, state_folder_));
    // Whoever has the token of some stores can write the object.
    OUTLAST_TRY(files_.set_mode(state_folder_, 0700));
    return sys::write_file_atomically(files_, state_path_, as_bytes(canonical_json(state)))
        .while_doing("keep what is needed to resume");
  }

  ObjectStore& store_;
  sys::FileSystem& files_;
  const std::string key_;
  const std::string name_;
  const std::string state_folder_;
  std::string state_path_;
  UploadPlan plan_;
  std::unique_ptr<Upload> upload_;
};

}  // namespace

std::unique_ptr<Target> make_object_target(ObjectStore& store, sys::FileSystem& files,
                                           std::string key, std::string state_folder) {
  return std::make_unique<ObjectTarget>(store, files, std::move(key), std::move(state_folder));
}

}  // namespace outlast::store
