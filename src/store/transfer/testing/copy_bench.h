#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/transfer/adaptive_width.h"
#include "store/transfer/copier.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

// A place to copy things to and fro.
namespace outlast::store::testing {

inline constexpr std::uint64_t kPart = 1000;

inline std::string random_text(std::size_t size) {
  Random random(size + 1);
  std::string text;
  while (text.size() < size) text += static_cast<char>(random.next());
  return text;
}

// Counts the calls that move bytes, and spoils them when told to.
class TrickyStore : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  std::atomic<int> calls_left = 1'000'000;  // then everything fails
  std::atomic<int> moved = 0;
  std::atomic<bool> flip = false;
  std::atomic<bool> damage_uploads = false;

  Result<ObjectInfo> get(const std::string& key, const GetOptions& options, const ByteSink& sink,
                         const sys::CallContext& ctx) override {
    OUTLAST_TRY(count());
    return MemoryStore::get(
        key, options,
        [&](const ObjectInfo& object, BytesView piece) -> Result<void> {
          if (!flip) return sink(object, piece);
          Bytes spoilt(piece.begin(), piece.end());
          spoilt.front() ^= std::byte{1};
          return sink(object, spoilt);
        },
        ctx);
  }

  Result<std::unique_ptr<Upload>> start_upload(const std::string& key, const UploadPlan& plan,
                                               const sys::CallContext& ctx) override {
    return wrap(MemoryStore::start_upload(key, plan, ctx));
  }
  Result<std::unique_ptr<Upload>> resume_upload(const std::string& key, const UploadPlan& plan,
                                                const Secret<std::string>& token,
                                                const sys::CallContext& ctx) override {
    return wrap(MemoryStore::resume_upload(key, plan, token, ctx));
  }

 private:
  struct CountedUpload : Upload {
    CountedUpload(TrickyStore& counter, std::unique_ptr<Upload> inner)
        : store(counter), upload(std::move(inner)) {}
    Result<void> put_part(std::uint64_t index, BytesView bytes,
                          const sys::CallContext& ctx) override {
      OUTLAST_TRY(store.count());
      return upload->put_part(index, bytes, ctx);
    }
    std::vector<std::uint64_t> stored_parts() const override { return upload->stored_parts(); }
    Result<std::string> complete(const sys::CallContext& ctx) override {
      if (store.damage_uploads) return Error(ErrorCode::kCorrupt, "the parts are damaged");
      return upload->complete(ctx);
    }
    Result<void> abort(const sys::CallContext& ctx) override { return upload->abort(ctx); }
    Secret<std::string> token() const override { return upload->token(); }
    TrickyStore& store;
    std::unique_ptr<Upload> upload;
  };

  Result<std::unique_ptr<Upload>> wrap(Result<std::unique_ptr<Upload>> upload) {
    if (!upload) return upload;
    return std::make_unique<CountedUpload>(*this, *std::move(upload));
  }
  Result<void> count() {
    if (calls_left.fetch_sub(1) <= 0) return Error(ErrorCode::kFailed, "the store broke");
    ++moved;
    return {};
  }
};

// One worker: which parts have been copied when the store breaks is then no race's affair.
inline constexpr AdaptiveWidth::Limits kOneByOne = {.start = 1, .least = 1, .most = 1};

// A world, a scratch folder in it and a store.
struct Bench {
  sys::World& world;
  std::string dir;
  TrickyStore& store;

  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(sys::write_file_atomically(world.files, dir + "/" + name, as_bytes(text)));
  }
  std::string read(const std::string& name) const {
    return sys::read_file(world.files, dir + "/" + name, 1U << 30U).value_or("(no file)");
  }
  Copy upload(const std::string& name, const std::string& key) const {
    return {
        .open_source =
            [this, name](const sys::CallContext&) {
              return open_file_source(world.files, dir + "/" + name);
            },
        .make_target =
            [this, key] { return make_object_target(store, world.files, key, dir + "/state"); }};
  }
  Copy download(const std::string& key, const std::string& name) const {
    return {
        .open_source = [this, key](const sys::CallContext& ctx) -> Result<std::unique_ptr<Source>> {
          OUTLAST_TRY_ASSIGN(ObjectInfo object, store.head(key, ctx));
          return make_object_source(store, std::move(object));
        },
        .make_target = [this, name] { return file_target(name); }};
  }
  std::unique_ptr<Source> open_object(const std::string& key) const {
    return make_object_source(store, store.head(key, {}).value());
  }
  std::unique_ptr<Target> file_target(const std::string& name) const {
    return make_file_target(world.files, world.clock, dir + "/" + name);
  }
  // The names in the folder, in order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const std::vector<sys::DirectoryEntry> entries = world.files.list(dir + "/").value();
    for (const sys::DirectoryEntry& entry : entries) names.push_back(entry.name);
    return names;
  }
  Result<CopyProgress> run(std::vector<Copy> copies, AdaptiveWidth::Limits width = {}) const {
    Copier copier(world.threads, world.clock, {.width = width, .part_bytes = kPart});
    for (Copy& copy : copies) OUTLAST_TRY(copier.add(std::move(copy), {}));
    return copier.finish({}, {});
  }
};

// In the real world.
inline void with_bench(const std::function<void(Bench&)>& body) {
  sys::testing::real_world().run([&](sys::World& world, const std::string& dir) {
    MemoryBucket bucket;
    TrickyStore store(bucket, world.clock);
    Bench bench = {.world = world, .dir = dir, .store = store};
    body(bench);
  });
}

}  // namespace outlast::store::testing
