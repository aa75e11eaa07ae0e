#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::store {

// The objects of one or more MemoryStores: what all machines of a simulation see alike, and what
// outlives each of them. Every function is one atomic step and makes no sys call. Thread-safe.
class MemoryBucket {
 public:
  // An object as it was at one moment.
  struct Snapshot {
    ObjectInfo info = {};
    std::shared_ptr<const Bytes> bytes = {};  // shared by the bucket and whoever reads; immutable
  };

  Result<std::string> put(const std::string& key, Bytes bytes, const WriteIf& condition,
                          WallTime now);
  // kNotFound; kConditionFailed if `if_version` is another one.
  Result<Snapshot> find(const std::string& key, const std::string& if_version) const;
  ListPage list(const ListOptions& options) const;
  // Any version if `version` is empty.
  Result<void> remove(const std::string& key, const std::string& version);

  std::string start_upload(const std::string& key, const UploadPlan& plan);
  // kNotFound if it is over; kInvalidArgument if it was begun for something else.
  Result<std::vector<std::uint64_t>> resume_upload(const std::string& id, const std::string& key,
                                                   const UploadPlan& plan) const;
  Result<void> put_part(const std::string& id, std::uint64_t index, Bytes bytes);
  Result<std::string> complete_upload(const std::string& id, WallTime now);
  void abort_upload(const std::string& id);

  std::size_t object_count() const;
  // Begun, and neither completed nor aborted.
  std::size_t upload_count() const;

 private:
  struct Pending {
    std::string key = {};
    UploadPlan plan = {};
    std::map<std::uint64_t, Bytes> parts = {};
  };

  Result<void> judge(const std::string& key, const WriteIf& condition) const
      OUTLAST_REQUIRES(mutex_);
  std::string store(const std::string& key, Bytes bytes, WallTime now) OUTLAST_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Snapshot> objects_ OUTLAST_GUARDED_BY(mutex_);
  std::map<std::string, Pending> uploads_ OUTLAST_GUARDED_BY(mutex_);
  std::uint64_t last_version_ OUTLAST_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_upload_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

// What a MemoryStore can do by itself; tests narrow it to stand for a store that can do less.
Properties memory_store_properties();

// An object store in memory: for tests, and for the machines of a simulation, each of which has one
// of its own on a common bucket. Thread-safe.
class MemoryStore : public ObjectStore {
 public:
  struct Options {
    std::string url = "memory://bucket/";
    Properties properties = memory_store_properties();
  };

  // Both must outlive it and the uploads that it starts.
  MemoryStore(MemoryBucket& bucket, sys::Clock& clock);
  MemoryStore(MemoryBucket& bucket, sys::Clock& clock, Options options);

  const Properties& properties() const override { return options_.properties; }
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
  Result<WallTime> server_time(const sys::CallContext& ctx) override;

 private:
  Result<void> check_call(std::string_view verb, const std::string& key,
                          const sys::CallContext& ctx);

  MemoryBucket& bucket_;
  sys::Clock& clock_;
  const Options options_;
};

}  // namespace outlast::store
