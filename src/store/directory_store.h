#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::store {

class DirectoryFiles;

// A folder as an object store: the object "a/b" is the plain file a/b in it, for people to look at.
// Threads, processes and machines may share it, over NFS too (version 4, or 3 with its lock
// daemon), as long as all of them write through a DirectoryStore. What was acknowledged survives
// the loss of power; what somebody else saw before it was acknowledged may not.
//
// Beyond the contract:
//  - The first put makes the folder. Until then reading gives kNotFound, listing too: a share that
//  is
//    not mounted must not look like an empty store. Removing is ok.
//  - The objects "a" and "a/b" cannot both exist, a part of a key between slashes has at most 255
//    bytes, and none begins with ".outlast-", the names of our own files: kInvalidArgument.
//  - Only regular files with a valid key for a name are objects. Symbolic links are not listed.
//    Folders that became empty stay until an object takes their name; they are not listed either.
//  - No checksum is kept: the file system is trusted with the bytes.
//  - A version is the file's inode, time and size. The time is set by us and grows with every
//    overwrite, so no two versions in a row of overwrites are equal. After a removal nothing is
//    left to grow from: an object that is made anew gets the file server's time with the last 4 ms
//    drawn at random, so that it can be taken for the removed one only if it has the same size, the
//    same inode and was made in the same few milliseconds, and then once in millions. File systems
//    that keep times less exactly than to the nanosecond weaken this to their tick.
//  - Drafts (".outlast-tmp-…") of writers that died, and uploads that nobody went on with, are
//    removed once they are a day old, by the first write into their folder of the next store
//    object.
//  - ".outlast-locks" in the folder holds files to lock; it may be removed only while nobody
//  writes.
//
// Thread-safe.
class DirectoryStore : public ObjectStore {
 public:
  // `files` and `clock` must outlive it, and it the uploads that it starts. Nothing is done or
  // checked yet.
  struct World {
    sys::FileSystem& files;
    sys::Clock& clock;
    Random random;
  };
  DirectoryStore(World world, const std::string& root);
  ~DirectoryStore() override;

  const Properties& properties() const override { return properties_; }
  // "<root>/<key>", as a path.
  std::string url_of(std::string_view key) const override;
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
  // By the clock of the file server, if it is one.
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  const Properties properties_;
  const std::unique_ptr<DirectoryFiles> files_;
};

}  // namespace outlast::store
