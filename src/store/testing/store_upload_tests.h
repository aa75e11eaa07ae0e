#pragma once

#include <gtest/gtest.h>

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
#include "base/secret.h"
#include "store/object_store.h"
#include "store/testing/store_fixture.h"
#include "sys/world.h"

// What every store promises of uploads in parts.
namespace outlast::store::testing {

class PartsOf {
 public:
  PartsOf(UploadPlan plan, std::string_view text) : plan_(std::move(plan)), text_(text) {}
  BytesView operator[](std::uint64_t index) const {
    return as_bytes(text_.substr(index * plan_.part_bytes, plan_.bytes_of(index)));
  }

 private:
  const UploadPlan plan_;
  const std::string_view text_;
};

// The smallest parts that the store takes, but not so small that all fit into one buffer.
inline std::uint64_t small_part_bytes(const ObjectStore& store) {
  const Properties& can = store.properties();
  const std::uint64_t wanted = std::max<std::uint64_t>(can.part_bytes_min, 70'000);
  return (wanted + can.part_granule - 1) / can.part_granule * can.part_granule;
}

inline std::unique_ptr<Upload> start(ObjectStore& store, const std::string& key,
                                     const UploadPlan& plan) {
  auto upload = store.start_upload(key, plan, {});
  EXPECT_TRUE(upload) << upload.error().to_string();
  return upload ? *std::move(upload) : nullptr;
}

// All parts, one after the other.
inline void put_parts(Upload& upload, const UploadPlan& plan, std::string_view text) {
  const PartsOf parts(plan, text);
  for (std::uint64_t i = 0; i < plan.part_count(); ++i) {
    const auto done = upload.put_part(i, parts[i], {});
    ASSERT_TRUE(done) << done.error().to_string();
  }
}

TEST_P(StoreSuite, AnUploadIsSeenOnceItIsComplete) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, 2 * part + 7);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const PartsOf parts(plan, text);
    const auto upload = start(store, "big/object", plan);
    ASSERT_TRUE(upload);
    EXPECT_TRUE(upload->stored_parts().empty());
    std::vector<std::uint64_t> order = {2, 0, 1};
    if (store.properties().parts_in_order) order = {0, 1, 2};
    for (const std::uint64_t index : order) {
      const auto done = upload->put_part(index, parts[index], {});
      ASSERT_TRUE(done) << why(done);
      EXPECT_EQ(code_of(store.head("big/object", {})), ErrorCode::kNotFound);
      EXPECT_TRUE(list(store).keys.empty());
      EXPECT_TRUE(list(store, {.folders = true}).folders.empty());
    }
    EXPECT_EQ(upload->stored_parts(), (std::vector<std::uint64_t>{0, 1, 2}));
    const auto version = upload->complete({});
    ASSERT_TRUE(version) << why(version);
    const auto info = store.head("big/object", {});
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->version, *version);
    EXPECT_EQ(info->size, text.size());
    EXPECT_TRUE(read(store, "big/object") == text);
    EXPECT_TRUE(read(store, "big/object", {.range = ByteRange{.offset = part - 3, .length = 6}}) ==
                text.substr(part - 3, 6));
    EXPECT_EQ(list(store).keys, (std::vector<std::string>{"big/object"}));
    EXPECT_FALSE(upload->complete({}));
  });
}

TEST_P(StoreSuite, PartsMayBePutInParallel) {
  on_store([](ObjectStore& store, sys::World& world) {
    if (store.properties().parts_in_order) GTEST_SKIP() << "this store takes parts in order";
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, 3 * part + part / 2);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const PartsOf parts(plan, text);
    const auto upload = start(store, "parallel", plan);
    ASSERT_TRUE(upload);
    on_threads(world, 4, [&](std::size_t i) {
      const auto done = upload->put_part(i, parts[i], {});
      EXPECT_TRUE(done) << why(done);
    });
    const auto version = upload->complete({});
    ASSERT_TRUE(version) << why(version);
    EXPECT_TRUE(read(store, "parallel") == text);
  });
}

TEST_P(StoreSuite, UploadsOfAnySizeAreWhole) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    for (const std::uint64_t size : {std::uint64_t{1}, part - 1, part, part + 1, 2 * part}) {
      const std::string text = random_text(world.random, size);
      const UploadPlan plan{.size = size, .part_bytes = part};
      const std::string key = "size-" + std::to_string(size);
      const auto upload = start(store, key, plan);
      ASSERT_TRUE(upload);
      put_parts(*upload, plan, text);
      const auto version = upload->complete({});
      ASSERT_TRUE(version) << why(version);
      EXPECT_TRUE(read(store, key) == text) << size;
    }
  });
}

TEST_P(StoreSuite, APartMayBePutAgain) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, part + 100);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const auto upload = start(store, "again", plan);
    ASSERT_TRUE(upload);
    if (!store.properties().parts_in_order) {
      ASSERT_TRUE(upload->put_part(0, as_bytes(random_text(world.random, part)), {}));
    }
    ASSERT_TRUE(upload->put_part(0, PartsOf(plan, text)[0], {}));
    put_parts(*upload, plan, text);
    const auto version = upload->complete({});
    ASSERT_TRUE(version) << why(version);
    EXPECT_TRUE(read(store, "again") == text);
  });
}

TEST_P(StoreSuite, ImpossiblePlansAndPartsAreRefused) {
  on_store([](ObjectStore& store, sys::World&) {
    const Properties& can = store.properties();
    const std::uint64_t part = small_part_bytes(store);
    const auto refusal = [&](const UploadPlan& plan) {
      return code_of(store.start_upload("a", plan, {}));
    };
    EXPECT_EQ(refusal({.size = 0, .part_bytes = part}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(refusal({.size = 100, .part_bytes = can.part_bytes_min - 1}),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(refusal({.size = 100, .part_bytes = can.part_bytes_max + can.part_granule}),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(refusal({.size = part * can.parts_max + 1, .part_bytes = part}),
              ErrorCode::kInvalidArgument);
    const auto upload = start(store, "a", {.size = part + 1, .part_bytes = part});
    ASSERT_TRUE(upload);
    EXPECT_EQ(code_of(upload->put_part(0, as_bytes("short"), {})), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(upload->put_part(2, as_bytes("x"), {})), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(upload->abort({}));
  });
}

TEST_P(StoreSuite, AnUploadsConditionIsJudgedWhenItCompletes) {
  on_store([](ObjectStore& store, sys::World& world) {
    if (!store.properties().conditional_upload) GTEST_SKIP() << "this store cannot";
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, 100);
    const auto prepare = [&](const WriteIf& condition) {
      const UploadPlan plan{.size = text.size(), .part_bytes = part, .condition = condition};
      auto upload = start(store, "a", plan);
      if (upload) put_parts(*upload, plan, text);
      return upload;
    };
    const auto won = prepare(WriteIf::absent());
    const auto lost = prepare(WriteIf::absent());
    ASSERT_TRUE(won && lost);
    const auto first = won->complete({});
    ASSERT_TRUE(first) << why(first);
    EXPECT_EQ(code_of(lost->complete({})), ErrorCode::kAlreadyExists);
    EXPECT_EQ(store.head("a", {})->version, *first);

    const auto right = prepare(WriteIf::version_is(*first));
    ASSERT_TRUE(right);
    put(store, "a", "another");
    EXPECT_EQ(code_of(right->complete({})), ErrorCode::kConditionFailed);
    EXPECT_EQ(read(store, "a"), "another");
    const auto now = prepare(WriteIf::version_is(store.head("a", {})->version));
    ASSERT_TRUE(now);
    const auto second = now->complete({});
    ASSERT_TRUE(second) << why(second);
    EXPECT_TRUE(read(store, "a") == text);

    const auto late = prepare(WriteIf::version_is(*second));
    ASSERT_TRUE(late);
    ASSERT_TRUE(store.remove("a", {}));
    EXPECT_EQ(code_of(late->complete({})), ErrorCode::kConditionFailed);
    EXPECT_EQ(code_of(store.head("a", {})), ErrorCode::kNotFound);
    for (const auto& upload : {lost.get(), right.get(), late.get()}) (void)upload->abort({});
  });
}

TEST_P(StoreSuite, AnUploadReplacesWhatWasThere) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    const std::string before = put(store, "a", "before");
    const std::string text = random_text(world.random, part + 5);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const auto upload = start(store, "a", plan);
    ASSERT_TRUE(upload);
    put_parts(*upload, plan, text);
    EXPECT_EQ(read(store, "a"), "before");
    const auto after = upload->complete({});
    ASSERT_TRUE(after) << why(after);
    EXPECT_NE(*after, before);
    EXPECT_TRUE(read(store, "a") == text);
  });
}

TEST_P(StoreSuite, AnAbortedUploadLeavesNothing) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, part + 5);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const auto upload = start(store, "a", plan);
    ASSERT_TRUE(upload);
    ASSERT_TRUE(upload->put_part(0, PartsOf(plan, text)[0], {}));
    const auto aborted = upload->abort({});
    EXPECT_TRUE(aborted) << why(aborted);
    const auto again = upload->abort({});
    EXPECT_TRUE(again) << why(again);
    EXPECT_FALSE(upload->complete({}));
    EXPECT_EQ(code_of(store.resume_upload("a", plan, upload->token(), {})), ErrorCode::kNotFound);
    EXPECT_TRUE(list(store).keys.empty());
  });
}

TEST_P(StoreSuite, AnUploadCanBeResumed) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::uint64_t part = small_part_bytes(store);
    const std::string text = random_text(world.random, 2 * part + 9);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    const PartsOf parts(plan, text);
    Secret<std::string> token;
    {
      const auto upload = start(store, "big", plan);
      ASSERT_TRUE(upload);
      ASSERT_TRUE(upload->put_part(0, parts[0], {}));
      token = upload->token();
    }
    const auto upload = store.resume_upload("big", plan, token, {});
    ASSERT_TRUE(upload) << why(upload);
    EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0}));
    ASSERT_TRUE((*upload)->put_part(1, parts[1], {}));
    const auto last = (*upload)->put_part(2, parts[2], {});
    ASSERT_TRUE(last) << why(last);
    EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0, 1, 2}));
    const auto version = (*upload)->complete({});
    ASSERT_TRUE(version) << why(version);
    EXPECT_TRUE(read(store, "big") == text);
  });
}

}  // namespace outlast::store::testing
