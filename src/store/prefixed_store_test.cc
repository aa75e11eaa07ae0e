#include "store/prefixed_store.h"

#include <gtest/gtest.h>

#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/posix_world.h"

namespace outlast::store {
namespace {

TEST(PrefixedStore, ShowsOnlyWhatLiesBelowItsPrefix) {
  sys::RealWorld real;
  MemoryBucket bucket;
  MemoryStore whole(bucket, real.world().clock);
  PrefixedStore part(whole, "jobs/a/");
  ASSERT_TRUE(whole.put("jobs/ab", as_bytes("x"), WriteIf::always(), {}));
  ASSERT_TRUE(part.put("deep/k", as_bytes("y"), WriteIf::always(), {}));
  EXPECT_TRUE(whole.head("jobs/a/deep/k", {}));
  EXPECT_EQ(part.head("deep/k", {}).value().key, "deep/k");
  EXPECT_EQ(part.url_of("deep/k"), whole.url_of("jobs/a/deep/k"));
  const ListPage page = part.list({}, {}).value();
  ASSERT_EQ(page.objects.size(), 1U);
  EXPECT_EQ(page.objects[0].key, "deep/k");
}

TEST(PrefixedStore, DoesNotMakeABadKeyGood) {
  sys::RealWorld real;
  MemoryBucket bucket;
  MemoryStore whole(bucket, real.world().clock);
  PrefixedStore part(whole, "a/");
  for (const char* bad : {"", "../b", "/b"}) {
    const auto put = part.put(bad, as_bytes("x"), WriteIf::always(), {});
    ASSERT_FALSE(put) << bad;
    EXPECT_EQ(put.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace outlast::store
