#include "store/directory_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/call_checks.h"
#include "store/directory_files.h"
#include "store/directory_list.h"
#include "store/directory_upload.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr std::size_t kReadPiece = 256U << 10U;
constexpr std::uint64_t kFileBytesMax = 1ULL << 43U;  // 8 TiB, less than any file system's bound

}  // namespace

DirectoryStore::DirectoryStore(World world, const std::string& root)
    : properties_{.kind = "directory",
                  .put_bytes_max = kFileBytesMax,
                  .part_bytes_min = 1,
                  .part_bytes_max = kFileBytesMax},
      files_(std::make_unique<DirectoryFiles>(world.files, world.clock, world.random, root)) {}

DirectoryStore::~DirectoryStore() = default;

std::string DirectoryStore::url_of(std::string_view key) const {
  return files_->path_of(key);
}

Result<std::string> DirectoryStore::put(const std::string& key, BytesView bytes,
                                        const WriteIf& condition, const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("put", key, ctx));
  Result<Draft> draft = files_->make_draft(key, ctx);
  if (!draft) return files_->explain("put", key, draft.error());
  const auto publish = [&]() -> Result<std::string> {
    OUTLAST_TRY(files_->write(*draft->file, bytes, 0, ctx));
    OUTLAST_TRY(files_->stamp(*draft, draft->info.modified));
    return files_->publish(*draft, key, condition, ctx);
  };
  Result<std::string> version = publish();
  if (version) return version;
  files_->discard(*draft);
  return files_->explain("put", key, version.error());
}

Result<ObjectInfo> DirectoryStore::get(const std::string& key, const GetOptions& options,
                                       const ByteSink& sink, const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("get", key, ctx));
  const std::string what = "get " + url_of(key);
  const Result<DirectoryFiles::Opened> opened = files_->open_object(key);
  if (!opened) return files_->explain("get", key, opened.error());
  if (!opened->file) return files_->not_found("get", key);
  ObjectInfo info = object_of(key, opened->info);
  if (!options.if_version.empty() && info.version != options.if_version) {
    return Error(ErrorCode::kConditionFailed, what + ": the object has another version by now");
  }
  ByteRange range{.offset = 0, .length = info.size};
  if (options.range) {
    OUTLAST_TRY_ASSIGN(range, clip_range(*options.range, info.size).while_doing(what));
  }
  Bytes buffer(std::min<std::uint64_t>(range.length, kReadPiece));
  while (range.length > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(range.length, buffer.size());
    const std::span<std::byte> piece = std::span(buffer).first(wanted);
    const Result<std::size_t> count = opened->file->read_at(piece, range.offset);
    if (!count) return files_->explain("get", key, count.error());
    if (*count < wanted) {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("{}: the file became shorter while it was read; something other than "
                      "outlast writes in this folder",
                      what));
    }
    OUTLAST_TRY(sink(info, piece));
    range.offset += wanted;
    range.length -= wanted;
    if (range.length > 0) OUTLAST_TRY(check_context(files_->clock(), ctx, what));
  }
  return info;
}

Result<ObjectInfo> DirectoryStore::head(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("head", key, ctx));
  const Result<DirectoryFiles::Opened> opened = files_->open_object(key);
  if (!opened) return files_->explain("head", key, opened.error());
  if (!opened->file) return files_->not_found("head", key);
  return object_of(key, opened->info);
}

Result<ListPage> DirectoryStore::list(const ListOptions& options, const sys::CallContext& ctx) {
  const std::string what = "list " + url_of(options.prefix);
  OUTLAST_TRY(check_context(files_->clock(), ctx, what));
  if (options.page_max == 0) {
    return Error(ErrorCode::kInvalidArgument, what + ": a page of no objects never ends");
  }
  Result<ListPage> page = list_directory(files_->fs(), files_->root(), options);
  if (page) return page;
  if (page.error().code() == ErrorCode::kNotFound) return files_->not_found("list", options.prefix);
  return files_->explain("list", options.prefix, page.error());
}

Result<void> DirectoryStore::remove(const std::string& key, const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("remove", key, ctx));
  const Result<void> removed = files_->remove(key, nullptr, ctx);
  if (!removed) return files_->explain("remove", key, removed.error());
  return {};
}

Result<void> DirectoryStore::remove_if(const std::string& key, const std::string& version,
                                       const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("remove", key, ctx));
  if (version.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("remove {}: no version was given", url_of(key)));
  }
  const Result<void> removed = files_->remove(key, &version, ctx);
  if (!removed) return files_->explain("remove", key, removed.error());
  return {};
}

Result<std::unique_ptr<Upload>> DirectoryStore::start_upload(const std::string& key,
                                                             const UploadPlan& plan,
                                                             const sys::CallContext& ctx) {
  OUTLAST_TRY(files_->check_call("upload", key, ctx));
  OUTLAST_TRY(check_plan(plan, properties_).while_doing("upload " + url_of(key)));
  Result<std::unique_ptr<Upload>> upload = start_directory_upload(*files_, key, plan, ctx);
  if (!upload) return files_->explain("upload", key, upload.error());
  return upload;
}

Result<std::unique_ptr<Upload>> DirectoryStore::resume_upload(const std::string& key,
                                                              const UploadPlan& plan,
                                                              const Secret<std::string>& token,
                                                              const sys::CallContext& ctx) {
  constexpr std::string_view kVerb = "resume the upload of";
  OUTLAST_TRY(files_->check_call(kVerb, key, ctx));
  OUTLAST_TRY(check_plan(plan, properties_).while_doing(fmt::format("{} {}", kVerb, url_of(key))));
  Result<std::unique_ptr<Upload>> upload =
      resume_directory_upload(*files_, key, plan, token.reveal());
  if (!upload) return files_->explain(kVerb, key, upload.error());
  return upload;
}

Result<Secret<std::string>> DirectoryStore::signed_url(const std::string& key,
                                                       Duration /*valid_for*/,
                                                       const sys::CallContext& /*ctx*/) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("sign a URL for {}: a file has none; share the folder, or copy the "
                           "object to a bucket",
                           url_of(key)));
}

Result<WallTime> DirectoryStore::server_time(const sys::CallContext& ctx) {
  return files_->server_time(ctx);
}

}  // namespace outlast::store
