#include "store/transfer/lister.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/posix_world.h"

namespace outlast::store {
namespace {

TEST(Lister, GivesEveryPageOnce) {
  sys::RealWorld real;
  MemoryBucket bucket;
  MemoryStore store(bucket, real.world().clock);
  for (int i = 0; i < 95; ++i) {
    ASSERT_TRUE(store.put(fmt::format("k{:03}", i), as_bytes("x"), WriteIf::always(), {}));
  }
  Lister lister(store, real.world().threads, {.prefix = "k", .page_max = 10});
  std::vector<std::string> keys;
  int pages = 0;
  while (true) {
    auto page = lister.next({});
    ASSERT_TRUE(page) << page.error().to_string();
    if (!page->has_value()) break;
    ++pages;
    for (const ObjectInfo& object : (*page)->objects) keys.push_back(object.key);
  }
  EXPECT_EQ(pages, 10);
  ASSERT_EQ(keys.size(), 95U);
  EXPECT_EQ(keys.front(), "k000");
  EXPECT_EQ(keys.back(), "k094");
}

TEST(Lister, MayBeLeftInTheMiddle) {
  sys::RealWorld real;
  MemoryBucket bucket;
  MemoryStore store(bucket, real.world().clock);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(store.put(fmt::format("k{:03}", i), as_bytes("x"), WriteIf::always(), {}));
  }
  Lister lister(store, real.world().threads, {.page_max = 1});
  EXPECT_TRUE(lister.next({}));
}

TEST(Lister, HandsOnTheError) {
  class Refusing : public MemoryStore {
   public:
    using MemoryStore::MemoryStore;
    Result<ListPage> list(const ListOptions&, const sys::CallContext&) override {
      return Error(ErrorCode::kPermissionDenied, "no");
    }
  };
  sys::RealWorld real;
  MemoryBucket bucket;
  Refusing store(bucket, real.world().clock);
  Lister lister(store, real.world().threads, {});
  const auto page = lister.next({});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code(), ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace outlast::store
