#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/testing/store_fixture.h"
#include "sys/world.h"

// What every store promises of single objects.
namespace outlast::store::testing {

TEST_P(StoreSuite, PropertiesAreWithinReason) {
  on_store([](ObjectStore& store, sys::World&) {
    const Properties& can = store.properties();
    EXPECT_FALSE(can.kind.empty());
    EXPECT_GE(can.put_bytes_max, 8U << 20U);
    EXPECT_GE(can.part_bytes_min, 1U);
    EXPECT_GE(can.part_bytes_max, can.part_bytes_min);
    ASSERT_GE(can.part_granule, 1U);
    EXPECT_EQ(can.part_bytes_min % can.part_granule, 0U);
    EXPECT_GE(can.parts_max, 1000U);
  });
}

TEST_P(StoreSuite, AUrlIsTheStoresOwnAndTheKey) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string own = store.url_of("");
    EXPECT_FALSE(own.empty());
    EXPECT_EQ(store.url_of("a b/c"), own + "a b/c");
  });
}

TEST_P(StoreSuite, WhatWasPutIsRead) {
  on_store([](ObjectStore& store, sys::World& world) {
    for (const std::size_t bytes : {0U, 1U, 4096U, 100'003U, 1U << 20U}) {
      const std::string key = "size/" + std::to_string(bytes);
      const std::string text = random_text(world.random, bytes);
      const std::string version = put(store, key, text);
      EXPECT_EQ(read(store, key) == text, true) << bytes;
      const auto info = store.head(key, {});
      ASSERT_TRUE(info) << why(info);
      EXPECT_EQ(info->key, key);
      EXPECT_EQ(info->size, bytes);
      EXPECT_EQ(info->version, version);
      EXPECT_GT(info->modified, WallTime());
      EXPECT_EQ(info->crc32c.value_or(crc32c(as_bytes(text))), crc32c(as_bytes(text)));
    }
  });
}

TEST_P(StoreSuite, AReadTellsWhatItReads) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string version = put(store, "a", "hello");
    std::vector<ObjectInfo> seen;
    const auto info = store.get("a", {},
                                [&](const ObjectInfo& object, BytesView) -> Result<void> {
                                  seen.push_back(object);
                                  return {};
                                },
                                {});
    ASSERT_TRUE(info) << why(info);
    ASSERT_FALSE(seen.empty());
    for (const ObjectInfo& object : {seen.front(), *info}) {
      EXPECT_EQ(object.key, "a");
      EXPECT_EQ(object.size, 5U);
      EXPECT_EQ(object.version, version);
      EXPECT_EQ(object.crc32c.value_or(crc32c(as_bytes("hello"))), crc32c(as_bytes("hello")));
    }
  });
}

TEST_P(StoreSuite, AnEmptyObjectIsThereAndNeedsNoSink) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "empty", "");
    const auto info = store.get("empty", {},
                                [](const ObjectInfo&, BytesView) -> Result<void> {
                                  ADD_FAILURE() << "called for no bytes";
                                  return {};
                                },
                                {});
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->size, 0U);
    EXPECT_EQ(list(store).keys, (std::vector<std::string>{"empty"}));
  });
}

TEST_P(StoreSuite, OverwritingChangesTheVersion) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string first = put(store, "a", "first");
    const std::string second = put(store, "a", "second, and longer");
    EXPECT_NE(first, second);
    EXPECT_EQ(read(store, "a"), "second, and longer");
    EXPECT_EQ(store.head("a", {})->version, second);
    const std::string third = put(store, "a", "3");
    EXPECT_EQ(read(store, "a"), "3");
    EXPECT_NE(third, second);
    EXPECT_NE(third, first);
  });
}

TEST_P(StoreSuite, WhatIsNotThereIsNotFound) {
  on_store([](ObjectStore& store, sys::World&) {
    EXPECT_EQ(code_of(store.head("none", {})), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(get(store, "none")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(get(store, "none", {.range = ByteRange{.offset = 0, .length = 1}})),
              ErrorCode::kNotFound);
    EXPECT_EQ(code_of(get(store, "deep/folder/none")), ErrorCode::kNotFound);
    put(store, "folder/a", "x");
    EXPECT_EQ(code_of(store.head("folder", {})), ErrorCode::kNotFound);
    const auto missing = store.head("none", {});
    EXPECT_NE(why(missing).find(store.url_of("none")), std::string::npos) << why(missing);
  });
}

TEST_P(StoreSuite, PutIfAbsentWinsOnce) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string version = put(store, "log/1", "mine", WriteIf::absent());
    EXPECT_EQ(code_of(store.put("log/1", as_bytes("yours"), WriteIf::absent(), {})),
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(code_of(store.put("log/1", as_bytes("mine"), WriteIf::absent(), {})),
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(read(store, "log/1"), "mine");
    EXPECT_EQ(store.head("log/1", {})->version, version);
    ASSERT_TRUE(store.remove("log/1", {}));
    put(store, "log/1", "again", WriteIf::absent());
    EXPECT_EQ(read(store, "log/1"), "again");
  });
}

TEST_P(StoreSuite, ReplaceIfNeedsTheVersionOfNow) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string first = put(store, "a", "1");
    const std::string second = put(store, "a", "2", WriteIf::version_is(first));
    EXPECT_NE(first, second);
    EXPECT_EQ(code_of(store.put("a", as_bytes("3"), WriteIf::version_is(first), {})),
              ErrorCode::kConditionFailed);
    EXPECT_EQ(read(store, "a"), "2");
    ASSERT_TRUE(store.remove("a", {}));
    EXPECT_EQ(code_of(store.put("a", as_bytes("3"), WriteIf::version_is(second), {})),
              ErrorCode::kConditionFailed);
    EXPECT_EQ(code_of(store.head("a", {})), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(store.put("never", as_bytes("3"), WriteIf::version_is(second), {})),
              ErrorCode::kConditionFailed);
  });
}

TEST_P(StoreSuite, RemovingTwiceIsAsGoodAsOnce) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "folder/a", "x");
    put(store, "folder/b", "y");
    EXPECT_TRUE(store.remove("folder/a", {}));
    EXPECT_EQ(code_of(store.head("folder/a", {})), ErrorCode::kNotFound);
    EXPECT_TRUE(store.remove("folder/a", {}));
    EXPECT_TRUE(store.remove("never/was", {}));
    EXPECT_EQ(read(store, "folder/b"), "y");
  });
}

TEST_P(StoreSuite, RemoveIfNeedsTheVersionOfNow) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string first = put(store, "a", "1");
    const std::string second = put(store, "a", "2");
    EXPECT_EQ(code_of(store.remove_if("a", first, {})), ErrorCode::kConditionFailed);
    EXPECT_EQ(read(store, "a"), "2");
    EXPECT_TRUE(store.remove_if("a", second, {}));
    EXPECT_EQ(code_of(store.head("a", {})), ErrorCode::kNotFound);
    EXPECT_TRUE(store.remove_if("a", second, {}));
  });
}

TEST_P(StoreSuite, ARangeIsReadAsFarAsItGoes) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "a", "0123456789");
    const auto range = [&](std::uint64_t offset, std::uint64_t length) {
      return get(store, "a", {.range = ByteRange{.offset = offset, .length = length}});
    };
    EXPECT_EQ(range(0, 10).value_or(""), "0123456789");
    EXPECT_EQ(range(3, 4).value_or(""), "3456");
    EXPECT_EQ(range(0, 1).value_or(""), "0");
    EXPECT_EQ(range(9, 1).value_or(""), "9");
    EXPECT_EQ(range(7, 1000).value_or(""), "789");
    EXPECT_EQ(range(0, 1ULL << 40U).value_or(""), "0123456789");
    EXPECT_EQ(code_of(range(10, 1)), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(range(1000, 5)), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(range(2, 0)), ErrorCode::kInvalidArgument);
    put(store, "empty", "");
    EXPECT_EQ(code_of(get(store, "empty", {.range = ByteRange{.offset = 0, .length = 1}})),
              ErrorCode::kInvalidArgument);
  });
}

TEST_P(StoreSuite, ARangeTellsTheSizeOfTheWhole) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string version = put(store, "a", "0123456789");
    const auto info = store.get("a", {.range = ByteRange{.offset = 3, .length = 4}}, ignore, {});
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->size, 10U);
    EXPECT_EQ(info->version, version);
    EXPECT_EQ(info->crc32c.value_or(crc32c(as_bytes("0123456789"))),
              crc32c(as_bytes("0123456789")));
  });
}

TEST_P(StoreSuite, AReadCanBePinnedToAVersion) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string first = put(store, "a", "first");
    EXPECT_EQ(read(store, "a", {.if_version = first}), "first");
    const std::string second = put(store, "a", "second");
    EXPECT_EQ(code_of(get(store, "a", {.if_version = first})), ErrorCode::kConditionFailed);
    const ByteRange range{.offset = 0, .length = 2};
    EXPECT_EQ(code_of(get(store, "a", {.range = range, .if_version = first})),
              ErrorCode::kConditionFailed);
    EXPECT_EQ(read(store, "a", {.range = range, .if_version = second}), "se");
  });
}

TEST_P(StoreSuite, ASinksErrorEndsTheRead) {
  on_store([](ObjectStore& store, sys::World& world) {
    put(store, "a", random_text(world.random, 1U << 20U));
    int calls = 0;
    const auto info = store.get("a", {},
                                [&](const ObjectInfo&, BytesView) -> Result<void> {
                                  ++calls;
                                  return Error(ErrorCode::kNoSpace, "the cup is full");
                                },
                                {});
    EXPECT_EQ(code_of(info), ErrorCode::kNoSpace);
    EXPECT_NE(why(info).find("the cup is full"), std::string::npos) << why(info);
    EXPECT_EQ(calls, 1);
  });
}

}  // namespace outlast::store::testing
