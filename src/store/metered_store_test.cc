#include "store/metered_store.h"

#include <gtest/gtest.h>

#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

const ByteSink kNowhere = [](const ObjectInfo&, BytesView) { return Result<void>(); };

TEST(MeteredStore, CountsCallsByKindAndBytesByDirection) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore memory(bucket, world.clock);
    MeteredStore metered(memory);
    ASSERT_TRUE(metered.put("a", as_bytes("hello"), {}, {}));
    ASSERT_TRUE(metered.get("a", {}, kNowhere, {}));
    ASSERT_TRUE(metered.get("a", {.range = ByteRange{.offset = 1, .length = 2}}, kNowhere, {}));
    ASSERT_TRUE(metered.head("a", {}));
    ASSERT_TRUE(metered.list({}, {}));
    ASSERT_TRUE(metered.server_time({}));
    const auto upload = metered.start_upload("b", {.size = 3, .part_bytes = 2}, {});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("xy"), {}));
    ASSERT_TRUE((*upload)->put_part(1, as_bytes("z"), {}));
    ASSERT_TRUE((*upload)->complete({}));
    ASSERT_TRUE(metered.resume_upload("b", {.size = 3, .part_bytes = 2}, (*upload)->token(), {})
                    .error()
                    .code() == ErrorCode::kNotFound);
    ASSERT_TRUE((*upload)->abort({}));
    ASSERT_TRUE(metered.remove("a", {}));
    ASSERT_TRUE(metered.remove_if("a", "1", {}));

    const StoreUsage usage = metered.usage();
    EXPECT_EQ(usage.calls_of(StoreCallKind::kPut), 1U);
    EXPECT_EQ(usage.calls_of(StoreCallKind::kGet), 2U);
    EXPECT_EQ(usage.calls_of(StoreCallKind::kPutPart), 2U);
    EXPECT_EQ(usage.calls_of(StoreCallKind::kRemove), 2U);
    EXPECT_EQ(usage.calls_of(StoreCallKind::kAbort), 1U);
    EXPECT_EQ(usage.class_a(), 6U);  // put, list, start, two parts, complete
    EXPECT_EQ(usage.class_b(), 5U);  // two gets, head, resume, the time
    EXPECT_EQ(usage.bytes_up, 8U);
    EXPECT_EQ(usage.bytes_down, 7U);
    EXPECT_EQ(usage.errors, 1U);
    EXPECT_EQ(usage.throttled, 0U);
  });
}

TEST(MeteredStore, UsageBetweenTwoMomentsIsADifference) {
  testing::in_simulation(1, [](sys::World& world) {
    MemoryBucket bucket;
    MemoryStore memory(bucket, world.clock);
    FaultyStore faulty(
        memory, world.clock,
        scripted_faults({{}, {.kind = Fault::Kind::kRefused, .error = ErrorCode::kThrottled}}));
    MeteredStore metered(faulty);
    ASSERT_TRUE(metered.put("a", as_bytes("12345"), {}, {}));
    const StoreUsage before = metered.usage();
    EXPECT_FALSE(metered.put("b", as_bytes("123"), {}, {}));
    ASSERT_TRUE(metered.get("a", {}, kNowhere, {}));
    StoreUsage expected{.bytes_up = 3, .bytes_down = 5, .errors = 1, .throttled = 1};
    expected.calls[static_cast<std::size_t>(StoreCallKind::kPut)] = 1;
    expected.calls[static_cast<std::size_t>(StoreCallKind::kGet)] = 1;
    EXPECT_EQ(metered.usage() - before, expected);
  });
}

}  // namespace
}  // namespace outlast::store
