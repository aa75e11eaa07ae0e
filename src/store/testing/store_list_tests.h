#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/object_store.h"
#include "store/testing/store_fixture.h"
#include "sys/world.h"

// What every store promises of lists and of names.
namespace outlast::store::testing {

using Names = std::vector<std::string>;

TEST_P(StoreSuite, AnEmptyStoreListsNothing) {
  on_store([](ObjectStore& store, sys::World&) {
    const auto page = store.list({}, {});
    ASSERT_TRUE(page) << why(page);
    EXPECT_TRUE(page->objects.empty());
    EXPECT_TRUE(page->folders.empty());
    EXPECT_EQ(page->next, "");
    put(store, "a", "x");
    EXPECT_EQ(list(store, {.prefix = "b"}).keys, Names());
    EXPECT_EQ(list(store, {.start_after = "a"}).keys, Names());
    EXPECT_EQ(list(store, {.prefix = "a/"}).keys, Names());
    ASSERT_TRUE(store.remove("a", {}));
    EXPECT_EQ(list(store).keys, Names());
  });
}

TEST_P(StoreSuite, AListTellsWhatHeadTells) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "folder/a", "hello");
    const Listing listing = list(store);
    ASSERT_EQ(listing.objects.size(), 1U);
    const auto head = store.head("folder/a", {});
    ASSERT_TRUE(head) << why(head);
    EXPECT_EQ(listing.objects[0].key, "folder/a");
    EXPECT_EQ(listing.objects[0].size, 5U);
    EXPECT_EQ(listing.objects[0].version, head->version);
    EXPECT_GT(listing.objects[0].modified, WallTime());
    const std::uint32_t crc = crc32c(as_bytes("hello"));
    EXPECT_EQ(listing.objects[0].crc32c.value_or(crc), crc);
  });
}

TEST_P(StoreSuite, AListSeesEveryWriteAtOnce) {
  on_store([](ObjectStore& store, sys::World&) {
    for (int i = 0; i < 5; ++i) {
      const std::string key = fmt::format("log/{}", i);
      put(store, key, "x", WriteIf::absent());
      EXPECT_EQ(list(store, {.prefix = "log/"}).keys.size(), static_cast<std::size_t>(i) + 1);
    }
    ASSERT_TRUE(store.remove("log/2", {}));
    EXPECT_EQ(list(store).keys, (Names{"log/0", "log/1", "log/3", "log/4"}));
  });
}

TEST_P(StoreSuite, APrefixNeedNotEndAtASegment) {
  on_store([](ObjectStore& store, sys::World&) {
    for (const char* key : {"job", "job-1/a", "job-1/b/c", "job-2/a", "jobs/x", "k"}) {
      put(store, key, "x");
    }
    EXPECT_EQ(list(store, {.prefix = "job-"}).keys, (Names{"job-1/a", "job-1/b/c", "job-2/a"}));
    EXPECT_EQ(list(store, {.prefix = "job-1/"}).keys, (Names{"job-1/a", "job-1/b/c"}));
    EXPECT_EQ(list(store, {.prefix = "job-1/b"}).keys, (Names{"job-1/b/c"}));
    EXPECT_EQ(list(store, {.prefix = "job-1/a"}).keys, (Names{"job-1/a"}));
    EXPECT_EQ(list(store, {.prefix = "job"}).keys,
              (Names{"job", "job-1/a", "job-1/b/c", "job-2/a", "jobs/x"}));
  });
}

TEST_P(StoreSuite, StartAfterLeavesOutWhatComesBefore) {
  on_store([](ObjectStore& store, sys::World&) {
    const Names keys = {"a", "b/1", "b/2", "b/3", "c"};
    for (const std::string& key : keys) put(store, key, "x");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(list(store, {.start_after = keys[i]}).keys,
                Names(keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end()));
    }
    EXPECT_EQ(list(store, {.start_after = "b"}).keys, (Names{"b/1", "b/2", "b/3", "c"}));
    EXPECT_EQ(list(store, {.prefix = "b/", .start_after = "b/1"}).keys, (Names{"b/2", "b/3"}));
    EXPECT_EQ(list(store, {.prefix = "b/", .start_after = "a"}).keys, (Names{"b/1", "b/2", "b/3"}));
    EXPECT_EQ(list(store, {.prefix = "b/", .start_after = "c"}).keys, Names());
    EXPECT_EQ(list(store, {.prefix = "b/", .start_after = "b/1", .page_max = 1}).keys,
              (Names{"b/2", "b/3"}));
  });
}

TEST_P(StoreSuite, PagesAddUp) {
  on_store([](ObjectStore& store, sys::World&) {
    Names keys;
    for (int i = 0; i < 7; ++i) {
      keys.push_back(fmt::format("page/{}", i));
      put(store, keys.back(), "x");
    }
    for (const std::uint32_t page_max : {1U, 2U, 3U, 7U, 1000U}) {
      EXPECT_EQ(list(store, {.page_max = page_max}).keys, keys) << page_max;
      EXPECT_EQ(list(store, {.prefix = "page/", .page_max = page_max}).keys, keys) << page_max;
    }
  });
}

TEST_P(StoreSuite, FoldersStandForWhatIsBelow) {
  on_store([](ObjectStore& store, sys::World&) {
    for (const char* key : {"a", "b/1", "b/2", "b/c/d", "e", "f/g", "h-1/x", "h-2/x"}) {
      put(store, key, "x");
    }
    for (const std::uint32_t page_max : {1U, 2U, 1000U}) {
      const Listing top = list(store, {.folders = true, .page_max = page_max});
      EXPECT_EQ(top.keys, (Names{"a", "e"})) << page_max;
      EXPECT_EQ(top.folders, (Names{"b/", "f/", "h-1/", "h-2/"})) << page_max;
      const Listing inside = list(store, {.prefix = "b/", .folders = true, .page_max = page_max});
      EXPECT_EQ(inside.keys, (Names{"b/1", "b/2"})) << page_max;
      EXPECT_EQ(inside.folders, (Names{"b/c/"})) << page_max;
      const Listing halfway = list(store, {.prefix = "h-", .folders = true, .page_max = page_max});
      EXPECT_EQ(halfway.keys, Names()) << page_max;
      EXPECT_EQ(halfway.folders, (Names{"h-1/", "h-2/"})) << page_max;
    }
    const Listing later = list(store, {.start_after = "e", .folders = true});
    EXPECT_EQ(later.keys, Names());
    EXPECT_EQ(later.folders, (Names{"f/", "h-1/", "h-2/"}));
    ASSERT_TRUE(store.remove("f/g", {}));
    EXPECT_EQ(list(store, {.folders = true}).folders, (Names{"b/", "h-1/", "h-2/"}));
  });
}

TEST_P(StoreSuite, MoreThanAThousandKeysAreListed) {
  on_store([](ObjectStore& store, sys::World& world) {
    constexpr std::size_t kKeys = 1003;
    constexpr std::size_t kThreads = 8;
    on_threads(world, kThreads, [&](std::size_t thread) {
      for (std::size_t i = thread; i < kKeys; i += kThreads) {
        put(store, fmt::format("many/{:05}", i), "x");
      }
    });
    Names expected;
    for (std::size_t i = 0; i < kKeys; ++i) expected.push_back(fmt::format("many/{:05}", i));
    EXPECT_EQ(list(store, {.prefix = "many/"}).keys, expected);
    EXPECT_EQ(list(store, {.start_after = "many/00999"}).keys,
              Names(expected.begin() + 1000, expected.end()));
    EXPECT_EQ(list(store, {.folders = true}).folders, (Names{"many/"}));
  });
}

TEST_P(StoreSuite, KeysAreOrderedByTheirBytes) {
  on_store([](ObjectStore& store, sys::World&) {
    // The last two change places where UTF-16 units are compared.
    Names keys = {"B",  "a",       "a b", "a!", "a-b",    "a.b",          "a0",     "aB",
                  "ab", "e\u0301", "z",   "~",  "\u00e9", "\u65e5\u672c", "\uff61", "\U0001d11e"};
    for (const std::string& key : keys) put(store, key, key);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(list(store).keys, keys);
    EXPECT_EQ(list(store, {.page_max = 3}).keys, keys);
  });
}

TEST_P(StoreSuite, ASlashIsAByteLikeAnyOtherInTheOrder) {
  on_store([](ObjectStore& store, sys::World&) {
    const Names keys = {"a-b", "a.b/c", "a/b", "a/c/d", "a0"};
    for (const std::string& key : keys) put(store, key, key);
    EXPECT_EQ(list(store).keys, keys);
    EXPECT_EQ(list(store, {.page_max = 2}).keys, keys);
    EXPECT_EQ(list(store, {.start_after = "a.b/c"}).keys, (Names{"a/b", "a/c/d", "a0"}));
  });
}

TEST_P(StoreSuite, AKeyMayBeTheFolderOfAnother) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "a/b", "the leaf");
    put(store, "a", "the trunk");
    put(store, "a/b/c", "the leaf's leaf");
    EXPECT_EQ(read(store, "a"), "the trunk");
    EXPECT_EQ(read(store, "a/b"), "the leaf");
    EXPECT_EQ(read(store, "a/b/c"), "the leaf's leaf");
    EXPECT_EQ(list(store).keys, (Names{"a", "a/b", "a/b/c"}));
    ASSERT_TRUE(store.remove("a/b", {}));
    EXPECT_EQ(list(store).keys, (Names{"a", "a/b/c"}));
    const Listing top = list(store, {.folders = true});
    EXPECT_EQ(top.keys, (Names{"a"}));
    EXPECT_EQ(top.folders, (Names{"a/"}));
  });
}

TEST_P(StoreSuite, AnyNameIsAGoodName) {
  on_store([](ObjectStore& store, sys::World&) {
    const Names keys = {"with space",
                        " leading",
                        "trailing ",
                        "plus+plus",
                        "percent%",
                        "a%2Fb",
                        "a%20b",
                        "amp&amp;",
                        "ask?x=1",
                        "hash#tag",
                        "equals=",
                        "quote'\"quote",
                        "<tag>&lt;",
                        "back\\slash",
                        "colon:semi;",
                        "comma,at@",
                        "brackets[]{}()",
                        "dollar$",
                        "star*",
                        "bar|bar",
                        "tilde~caret^",
                        "back`tick",
                        "...",
                        ".hidden",
                        "dot./.dot",
                        "a/b/c/d/e/f/g/h",
                        "unicode/\u00e9\u65e5\u672c\U0001f600",
                        "UPPER",
                        "upper",
                        "-dash",
                        "e\u0301 decomposed",
                        "x.tmp",
                        "x~",
                        "CON"};
    for (const std::string& key : keys) put(store, key, "content of " + key);
    for (const std::string& key : keys) {
      EXPECT_EQ(read(store, key), "content of " + key);
      const auto info = store.head(key, {});
      ASSERT_TRUE(info) << why(info);
      EXPECT_EQ(info->key, key);
      EXPECT_EQ(list(store, {.prefix = key}).keys.empty(), false) << key;
    }
    Names sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(list(store).keys, sorted);
    for (const std::string& key : keys) EXPECT_TRUE(store.remove(key, {})) << key;
    EXPECT_EQ(list(store).keys, Names());
  });
}

TEST_P(StoreSuite, ANameMayBeVeryLong) {
  on_store([](ObjectStore& store, sys::World&) {
    std::string key;
    while (key.size() + 200 < GetParam().key_bytes_max) key += std::string(199, 'k') + "/";
    key += std::string(GetParam().key_bytes_max - key.size(), 'l');
    put(store, key, "far away");
    EXPECT_EQ(read(store, key), "far away");
    EXPECT_EQ(list(store).keys, Names{key});
    EXPECT_EQ(list(store, {.prefix = key}).keys, Names{key});
  });
}

TEST_P(StoreSuite, BadNamesAreRefused) {
  on_store([](ObjectStore& store, sys::World&) {
    const Names keys = {"",
                        "/",
                        "/a",
                        "a/",
                        "a//b",
                        ".",
                        "..",
                        "a/../b",
                        "a/./b",
                        "a/..",
                        "a\nb",
                        "a\x7f",
                        "a\xff"
                        "b",
                        std::string("a\0b", 3),
                        std::string(1025, 'x')};
    for (const std::string& key : keys) {
      EXPECT_EQ(code_of(store.put(key, as_bytes("x"), {}, {})), ErrorCode::kInvalidArgument) << key;
      EXPECT_EQ(code_of(get(store, key)), ErrorCode::kInvalidArgument) << key;
      EXPECT_EQ(code_of(store.head(key, {})), ErrorCode::kInvalidArgument) << key;
      EXPECT_EQ(code_of(store.remove(key, {})), ErrorCode::kInvalidArgument) << key;
      EXPECT_EQ(code_of(store.remove_if(key, "1", {})), ErrorCode::kInvalidArgument) << key;
      EXPECT_EQ(code_of(store.start_upload(
                    key, {.size = 1, .part_bytes = store.properties().part_bytes_min}, {})),
                ErrorCode::kInvalidArgument)
          << key;
    }
    EXPECT_EQ(list(store).keys, Names());
  });
}

}  // namespace outlast::store::testing
