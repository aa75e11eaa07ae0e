#include "store/directory_upload.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/call_checks.h"
#include "store/directory_files.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr std::string_view kPartsSuffix = ".parts";
constexpr std::uint64_t kRecordBytesMax = 1U << 20U;

// A line that names the object and the plan, then one character for each part: '1' once it is
// durable.
std::string record_head(const std::string& key, const UploadPlan& plan) {
  const std::string whole =
      fmt::format("{} {} {} {} {}", plan.size, plan.part_bytes,
                  static_cast<int>(plan.condition.kind), plan.condition.version, key);
  return fmt::format("outlast upload 1 {}\n", sha256(as_bytes(whole)).hex());
}

Error no_such_upload() {
  return {ErrorCode::kNotFound,
          "there is no such upload: it was completed, aborted, or left alone "
          "for a day"};
}

class DirectoryUpload : public Upload {
 public:
  struct Place {
    DirectoryFiles& files;
    std::string key;
    std::string draft;  // paths
    std::string record;
  };
  DirectoryUpload(Place place, const UploadPlan& plan, std::string token,
                  std::set<std::uint64_t> stored)
      : place_(std::move(place)),
        plan_(plan),
        token_(std::move(token)),
        record_head_bytes_(record_head(place_.key, plan_).size()),
        stored_(std::move(stored)) {}

  Result<void> put_part(std::uint64_t index, BytesView bytes,
                        const sys::CallContext& ctx) override {
    const std::string verb = fmt::format("put part {} of", index);
    const std::string what = verb + " " + url();
    OUTLAST_TRY(check_context(files().clock(), ctx, what));
    OUTLAST_TRY(check_part(plan_, index, bytes.size()).while_doing(what));
    const Result<void> done = store(index, bytes, ctx);
    if (!done) return files().explain(verb, place_.key, done.error());
    return {};
  }

  std::vector<std::uint64_t> stored_parts() const override {
    const MutexLock lock(mutex_);
    return {stored_.begin(), stored_.end()};
  }

  Result<std::string> complete(const sys::CallContext& ctx) override {
    constexpr std::string_view kVerb = "complete the upload of";
    OUTLAST_TRY(check_context(files().clock(), ctx, fmt::format("{} {}", kVerb, url())));
    Result<std::string> version = publish(ctx);
    if (!version) return files().explain(kVerb, place_.key, version.error());
    (void)files().fs().remove_file(place_.record);
    return version;
  }

  Result<void> abort(const sys::CallContext& ctx) override {
    OUTLAST_TRY(check_context(files().clock(), ctx, "abort the upload of " + url()));
    for (const std::string& path : {place_.record, place_.draft}) {
      const Result<void> removed = files().fs().remove_file(path);
      if (!removed && removed.error().code() != ErrorCode::kNotFound) {
        return files().explain("abort the upload of", place_.key, removed.error());
      }
    }
    return {};
  }

  Secret<std::string> token() const override { return Secret<std::string>(token_); }

 private:
  DirectoryFiles& files() const { return place_.files; }
  std::string url() const { return files().path_of(place_.key); }

  // The part is in the record only after the part itself is durable, and not while it is replaced.
  Result<void> store(std::uint64_t index, BytesView bytes, const sys::CallContext& ctx) {
    bool replaces = false;
    {
      const MutexLock lock(mutex_);
      OUTLAST_TRY(check_open());
      replaces = stored_.erase(index) > 0;
    }
    OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> record, open(place_.record));
    if (replaces) {
      OUTLAST_TRY(record->write_at(as_bytes("0"), record_head_bytes_ + index));
      OUTLAST_TRY(record->sync());
    }
    // Opened anew for each part, because an open file is told only once that a write of anybody's
    // did not reach the disk.
    OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> draft, open(place_.draft));
    OUTLAST_TRY(files().write(*draft, bytes, index * plan_.part_bytes, ctx));
    const Result<void> synced = draft->sync();
    {
      const MutexLock lock(mutex_);
      if (!synced) failed_ = true;
      if (synced) OUTLAST_TRY(check_open());
    }
    if (!synced) {
      (void)files().fs().remove_file(place_.record);  // nothing in it is known any more
      return synced.error();
    }
    OUTLAST_TRY(record->write_at(as_bytes("1"), record_head_bytes_ + index));
    const MutexLock lock(mutex_);
    stored_.insert(index);
    return {};
  }

  Result<std::string> publish(const sys::CallContext& ctx) {
    Draft draft{.path = place_.draft};
    OUTLAST_TRY_ASSIGN(draft.file, open(place_.draft));
    OUTLAST_TRY_ASSIGN(draft.info, draft.file->info());
    {
      const MutexLock lock(mutex_);
      if (failed_) return lost_parts();
      if (stored_.size() != plan_.part_count()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{} of {} parts are missing: put them first",
                                 plan_.part_count() - stored_.size(), plan_.part_count()));
      }
      closed_ = true;
    }
    if (draft.info.size != plan_.size) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{} has {} bytes instead of {}: somebody changed it; abort the "
                               "upload and begin anew",
                               draft.path, draft.info.size, plan_.size));
    }
    // Linked to the object by an earlier try: then it is the object, and has its time.
    if (draft.info.links < 2) {
      const Result<void> stamped = files().stamp(draft, draft.info.modified);
      if (!stamped) {
        const MutexLock lock(mutex_);
        failed_ = true;
        return stamped.error();
      }
    }
    Result<std::string> version = files().publish(draft, place_.key, plan_.condition, ctx);
    const MutexLock lock(mutex_);
    // Later parts would go into an object that others may read.
    closed_ = version || version.error().code() == ErrorCode::kUnknownOutcome;
    return version;
  }

  Result<std::unique_ptr<sys::File>> open(const std::string& path) const {
    Result<std::unique_ptr<sys::File>> file = files().fs().open(path, sys::OpenMode::kWrite);
    if (!file && file.error().code() == ErrorCode::kNotFound) return no_such_upload();
    return file;
  }

  static Error lost_parts() {
    return {ErrorCode::kFailed,
            "the disk lost parts of this upload: abort it, look at the disk, and begin anew"};
  }
  Result<void> check_open() const OUTLAST_REQUIRES(mutex_) {
    if (failed_) return lost_parts();
    if (closed_) return no_such_upload();
    return {};
  }

  const Place place_;
  const UploadPlan plan_;
  const std::string token_;
  const std::size_t record_head_bytes_;
  mutable Mutex mutex_;
  std::set<std::uint64_t> stored_ OUTLAST_GUARDED_BY(mutex_);
  bool closed_ OUTLAST_GUARDED_BY(mutex_) = false;
  bool failed_ OUTLAST_GUARDED_BY(mutex_) = false;  // a sync did
};

Result<void> write_record(sys::FileSystem& fs, const std::string& path, const std::string& key,
                          const UploadPlan& plan) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> record,
                     fs.open(path, sys::OpenMode::kCreateExclusive));
  const std::string text = record_head(key, plan) + std::string(plan.part_count(), '0');
  OUTLAST_TRY(record->write_at(as_bytes(text), 0));
  OUTLAST_TRY(record->sync());
  return fs.sync_dir(sys::parent_path(path));
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
}

}  // namespace

Result<std::unique_ptr<Upload>> start_directory_upload(DirectoryFiles& files,
                                                       const std::string& key,
                                                       const UploadPlan& plan,
                                                       const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const Draft draft, files.make_draft(key, ctx));
  const std::string record = draft.path + std::string(kPartsSuffix);
  const Result<void> written = write_record(files.fs(), record, key, plan);
  if (!written) {
    (void)files.fs().remove_file(record);
    files.discard(draft);
    return written.error();
  }
  return std::make_unique<DirectoryUpload>(
      DirectoryUpload::Place{.files = files, .key = key, .draft = draft.path, .record = record},
      plan, DirectoryFiles::token_of(draft), std::set<std::uint64_t>());
}

Result<std::unique_ptr<Upload>> resume_directory_upload(DirectoryFiles& files,
                                                        const std::string& key,
                                                        const UploadPlan& plan,
                                                        const std::string& token) {
  if (!is_token(token)) return no_such_upload();
  const std::string draft = files.draft_path(key, token);
  const std::string record = draft + std::string(kPartsSuffix);
  const Result<sys::FileInfo> info = files.fs().stat(draft);
  const Result<std::string> text = sys::read_file(files.fs(), record, kRecordBytesMax);
  for (const Error* error : {info ? nullptr : &info.error(), text ? nullptr : &text.error()}) {
    if (error == nullptr) continue;
    return error->code() == ErrorCode::kNotFound ? no_such_upload() : *error;
  }
  // Published, and then its writer died: what goes into it now would go into the object.
  if (info->links > 1) return no_such_upload();
  const std::string head = record_head(key, plan);
  if (!text->starts_with(head)) {
    return Error(ErrorCode::kInvalidArgument, "the upload was begun with another key or plan");
  }
  std::set<std::uint64_t> stored;
  for (std::uint64_t i = 0; i < plan.part_count() && head.size() + i < text->size(); ++i) {
    if ((*text)[head.size() + i] == '1') stored.insert(i);
  }
  return std::make_unique<DirectoryUpload>(
      DirectoryUpload::Place{.files = files, .key = key, .draft = draft, .record = record}, plan,
      token, std::move(stored));
}

}  // namespace outlast::store
