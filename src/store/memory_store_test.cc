#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/secret.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

// What the suite does not know of: the bucket. The rest is store_suites_test.cc.
namespace outlast::store {
namespace {

TEST(MemoryStore, StoresOnOneBucketSeeTheSameObjects) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore here(bucket, world.clock);
    MemoryStore there(bucket, world.clock, {.url = "memory://there/"});
    ASSERT_TRUE(here.put("a", as_bytes("x"), WriteIf::absent(), {}));
    EXPECT_EQ(there.put("a", as_bytes("y"), WriteIf::absent(), {}).error().code(),
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(there.url_of("a"), "memory://there/a");
    EXPECT_EQ(bucket.object_count(), 1U);
  });
}

TEST(MemoryStore, KeepsPartsUntilTheUploadEnds) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    const UploadPlan plan{.size = 4, .part_bytes = 2};
    Secret<std::string> token;
    {
      MemoryStore store(bucket, world.clock);
      const auto upload = store.start_upload("a", plan, {});
      ASSERT_TRUE(upload);
      ASSERT_TRUE((*upload)->put_part(1, as_bytes("cd"), {}));
      token = (*upload)->token();
    }
    EXPECT_EQ(bucket.upload_count(), 1U);
    MemoryStore store(bucket, world.clock);
    EXPECT_EQ(store.resume_upload("b", plan, token, {}).error().code(),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(store.resume_upload("a", {.size = 5, .part_bytes = 2}, token, {}).error().code(),
              ErrorCode::kInvalidArgument);
    const auto upload = store.resume_upload("a", plan, token, {});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("ab"), {}));
    ASSERT_TRUE((*upload)->complete({}));
    EXPECT_EQ(bucket.upload_count(), 0U);
    EXPECT_EQ((*upload)->complete({}).error().code(), ErrorCode::kNotFound);
    EXPECT_EQ((*upload)->put_part(0, as_bytes("ab"), {}).error().code(), ErrorCode::kNotFound);
  });
}

TEST(MemoryStore, CanStandForAStoreThatCanDoLess) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    Properties less = memory_store_properties();
    less.put_bytes_max = 3;
    less.part_granule = 4;
    MemoryStore store(bucket, world.clock, {.properties = less});
    EXPECT_EQ(store.put("a", as_bytes("long"), {}, {}).error().to_string(),
              "put memory://bucket/a: 4 bytes are too many at once: upload it in parts");
    EXPECT_EQ(store.start_upload("a", {.size = 9, .part_bytes = 6}, {}).error().code(),
              ErrorCode::kInvalidArgument);
    EXPECT_TRUE(store.start_upload("a", {.size = 9, .part_bytes = 8}, {}));
  });
}

TEST(MemoryStore, SentencesSayWhatAndWhere) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore store(bucket, world.clock);
    EXPECT_EQ(store.head("a/b", {}).error().to_string(),
              "head memory://bucket/a/b: there is no such object");
    EXPECT_EQ(store.put("a//b", as_bytes("x"), {}, {}).error().to_string(),
              "put memory://bucket/a//b: the object's name has an empty part between slashes");
    EXPECT_EQ(store.remove_if("a", "", {}).error().to_string(),
              "remove memory://bucket/a: no version was given");
  });
}

}  // namespace
}  // namespace outlast::store
