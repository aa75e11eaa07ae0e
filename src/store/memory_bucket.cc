#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "store/memory_store.h"
#include "store/object_store.h"

namespace outlast::store {
namespace {

Error no_such_upload() {
  return {ErrorCode::kNotFound, "there is no such upload: it was completed or aborted"};
}

bool same_plan(const UploadPlan& a, const UploadPlan& b) {
  return a.size == b.size && a.part_bytes == b.part_bytes && a.condition.kind == b.condition.kind &&
         a.condition.version == b.condition.version;
}

}  // namespace

Result<void> MemoryBucket::judge(const std::string& key, const WriteIf& condition) const {
  const auto found = objects_.find(key);
  if (condition.kind == WriteIf::Kind::kAbsent && found != objects_.end()) {
    return Error(ErrorCode::kAlreadyExists, "the object exists already");
  }
  if (condition.kind == WriteIf::Kind::kVersion &&
      (found == objects_.end() || found->second.info.version != condition.version)) {
    return Error(ErrorCode::kConditionFailed,
                 "the object is gone or has another version: read it again, then decide");
  }
  return {};
}

std::string MemoryBucket::store(const std::string& key, Bytes bytes, WallTime now) {
  Snapshot& object = objects_[key];
  object.info = {.key = key,
                 .size = bytes.size(),
                 .version = std::to_string(++last_version_),
                 .modified = now,
                 .crc32c = crc32c(bytes)};
  object.bytes = std::make_shared<const Bytes>(std::move(bytes));
  return object.info.version;
}

Result<std::string> MemoryBucket::put(const std::string& key, Bytes bytes, const WriteIf& condition,
                                      WallTime now) {
  const MutexLock lock(mutex_);
  OUTLAST_TRY(judge(key, condition));
  return store(key, std::move(bytes), now);
}

Result<MemoryBucket::Snapshot> MemoryBucket::find(const std::string& key,
                                                  const std::string& if_version) const {
  const MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return Error(ErrorCode::kNotFound, "there is no such object");
  if (!if_version.empty() && found->second.info.version != if_version) {
    return Error(ErrorCode::kConditionFailed, "the object has another version by now");
  }
  return found->second;
}

// The token is the last key or folder of the page before.
ListPage MemoryBucket::list(const ListOptions& options) const {
  const MutexLock lock(mutex_);
  ListPage page;
  const std::string& prefix = options.prefix;
  const std::string& after = std::max(options.start_after, options.page_token);
  const bool resumes_after_folder = options.folders && options.page_token.ends_with('/');
  auto at = prefix > after ? objects_.lower_bound(prefix) : objects_.upper_bound(after);
  std::string last;
  while (at != objects_.end() && at->first.starts_with(prefix)) {
    const std::string& key = at->first;
    if (resumes_after_folder && key.starts_with(options.page_token)) {
      ++at;
      continue;
    }
    if (page.objects.size() + page.folders.size() >= options.page_max) {
      page.next = last;
      break;
    }
    const std::size_t slash = options.folders ? key.find('/', prefix.size()) : std::string::npos;
    if (slash == std::string::npos) {
      page.objects.push_back(at->second.info);
      last = key;
      ++at;
      continue;
    }
    last = key.substr(0, slash + 1);
    page.folders.push_back(last);
    at = std::find_if_not(at, objects_.end(),
                          [&](const auto& object) { return object.first.starts_with(last); });
  }
  return page;
}

Result<void> MemoryBucket::remove(const std::string& key, const std::string& version) {
  const MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return {};
  if (!version.empty() && found->second.info.version != version) {
    return Error(ErrorCode::kConditionFailed, "the object has another version by now");
  }
  objects_.erase(found);
  return {};
}

std::string MemoryBucket::start_upload(const std::string& key, const UploadPlan& plan) {
  const MutexLock lock(mutex_);
  std::string id = std::to_string(++last_upload_);
  uploads_[id] = {.key = key, .plan = plan};
  return id;
}

Result<std::vector<std::uint64_t>> MemoryBucket::resume_upload(const std::string& id,
                                                               const std::string& key,
                                                               const UploadPlan& plan) const {
  const MutexLock lock(mutex_);
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) return no_such_upload();
  if (found->second.key != key || !same_plan(found->second.plan, plan)) {
    return Error(ErrorCode::kInvalidArgument, "the upload was begun with another key or plan");
  }
  std::vector<std::uint64_t> stored;
  std::transform(found->second.parts.begin(), found->second.parts.end(), std::back_inserter(stored),
                 [](const auto& part) { return part.first; });
  return stored;
}

Result<void> MemoryBucket::put_part(const std::string& id, std::uint64_t index, Bytes bytes) {
  const MutexLock lock(mutex_);
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) return no_such_upload();
  found->second.parts[index] = std::move(bytes);
  return {};
}

Result<std::string> MemoryBucket::complete_upload(const std::string& id, WallTime now) {
  const MutexLock lock(mutex_);
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) return no_such_upload();
  const Pending& upload = found->second;
  if (upload.parts.size() != upload.plan.part_count()) {
    return Error(ErrorCode::kInvalidArgument, "parts of the upload are missing: put them first");
  }
  OUTLAST_TRY(judge(upload.key, upload.plan.condition));
  Bytes whole;
  whole.reserve(upload.plan.size);
  for (const auto& [index, part] : upload.parts) {
    whole.insert(whole.end(), part.begin(), part.end());
  }
  std::string version = store(upload.key, std::move(whole), now);
  uploads_.erase(found);
  return version;
}

void MemoryBucket::abort_upload(const std::string& id) {
  const MutexLock lock(mutex_);
  uploads_.erase(id);
}

std::size_t MemoryBucket::object_count() const {
  const MutexLock lock(mutex_);
  return objects_.size();
}

std::size_t MemoryBucket::upload_count() const {
  const MutexLock lock(mutex_);
  return uploads_.size();
}

}  // namespace outlast::store
