#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"

// What lies under a DirectoryStore: which file is which object, and how a file becomes one.
namespace outlast::store {

// Whether a name in a folder is one of ours, and never an object's.
bool is_reserved_name(std::string_view name);
// check_key(), and what else keeps a key from being the name of a file.
Result<void> check_file_key(std::string_view key);
// Of the object that this file is.
std::string version_of(const sys::FileInfo& info);
ObjectInfo object_of(std::string key, const sys::FileInfo& info);

// A file beside its future name, which nobody takes for an object. While it exists its folder
// cannot be removed.
struct Draft {
  std::string path = {};
  std::unique_ptr<sys::File> file = {};
  sys::FileInfo info = {};  // when it was made; when it was stamped
};

// Thread-safe.
class DirectoryFiles {
 public:
  DirectoryFiles(sys::FileSystem& fs, sys::Clock& clock, Random random, const std::string& root);

  sys::FileSystem& fs() { return fs_; }
  sys::Clock& clock() { return clock_; }
  const std::string& root() const { return root_; }
  std::string path_of(std::string_view key) const;
  std::string folder_of(std::string_view key) const;

  // What every call asks first; `verb` begins the sentence.
  Result<void> check_call(std::string_view verb, const std::string& key,
                          const sys::CallContext& ctx);
  // `cause` as the failure of "<verb> <key>", with what to do about it.
  Error explain(std::string_view verb, std::string_view key, const Error& cause);
  // kNotFound, or what else keeps the object from being there.
  Error not_found(std::string_view verb, std::string_view key);

  struct Opened {
    std::unique_ptr<sys::File> file = {};
    sys::FileInfo info = {};
  };
  // The object's file as it is now; no file if there is none.
  Result<Opened> open_object(std::string_view key);

  // A new draft beside the object, whose folders are made, durably.
  Result<Draft> make_draft(std::string_view key, const sys::CallContext& ctx);
  // Where the draft with this token is, and the token of a draft.
  std::string draft_path(std::string_view key, std::string_view token) const;
  static std::string token_of(const Draft& draft);
  // Writes in pieces, so that `ctx` can end it.
  Result<void> write(sys::File& file, BytesView bytes, std::uint64_t offset,
                     const sys::CallContext& ctx);
  // Gives the draft the time that makes its version its own, and syncs it. `base` is about now, by
  // the clock of the file server.
  Result<void> stamp(Draft& draft, WallTime base);
  // Makes the stamped draft the object, durably; its version. On an error the draft is still there,
  // unless it is kUnknownOutcome.
  Result<std::string> publish(Draft& draft, const std::string& key, const WriteIf& condition,
                              const sys::CallContext& ctx);
  void discard(const Draft& draft);

  // Whatever its version if `version` is nullptr.
  Result<void> remove(const std::string& key, const std::string* version,
                      const sys::CallContext& ctx);

  // The time by the clock of the file server.
  Result<WallTime> server_time(const sys::CallContext& ctx);

 private:
  std::string make_token();
  Result<std::unique_ptr<sys::FileLock>> lock(std::string_view name, const sys::CallContext& ctx);
  Result<std::unique_ptr<sys::FileLock>> lock_key(std::string_view key,
                                                  const sys::CallContext& ctx);
  Result<Draft> open_draft(const std::string& folder);
  Result<Draft> make_draft_and_folders(std::string_view key, const std::string& folder,
                                       const sys::CallContext& ctx);
  void sweep(const std::string& folder, WallTime now);
  // So that the draft is not taken for a file of that time.
  Result<void> make_later(Draft& draft, WallTime than);
  // Whether a folder has the object's name; if it is empty, it goes, and the answer is no.
  Result<bool> blocked_by_folder(const std::string& path, const sys::CallContext& ctx);
  bool is_object(const Draft& draft, std::string_view key);
  Result<std::string> publish_new(const Draft& draft, const std::string& key,
                                  const sys::CallContext& ctx);
  Result<std::string> publish_over(Draft& draft, const std::string& key, const WriteIf& condition,
                                   const sys::CallContext& ctx);
  Result<void> sync_names(const std::string& key);
  std::optional<Error> name_conflict(std::string_view key);

  sys::FileSystem& fs_;
  sys::Clock& clock_;
  const std::string root_;
  Mutex mutex_;
  Random random_ OUTLAST_GUARDED_BY(mutex_);
  std::set<std::string> swept_ OUTLAST_GUARDED_BY(mutex_);  // folders
};

}  // namespace outlast::store
