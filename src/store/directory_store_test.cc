#include "store/directory_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/simulation.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/directory_machine.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using testing::drafts_in;
using testing::keys_of;
using testing::on_machine;
using testing::path;
using testing::put;
using testing::read;
using testing::sentence_of;
using testing::store_in;

TEST(DirectoryStore, AnObjectIsAPlainFile) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "runs/1/weights", "bytes"));
    EXPECT_EQ(*sys::read_file(world.files, path("runs/1/weights"), 100), "bytes");
    ASSERT_TRUE(sys::write_file_atomically(world.files, path("runs/1/note"), as_bytes("by hand")));
    EXPECT_EQ(keys_of(store), (std::vector<std::string>{"runs/1/note", "runs/1/weights"}));
    EXPECT_EQ(read(store, "runs/1/note"), "by hand");
    EXPECT_EQ(store.url_of("runs/1"), "/root/store/runs/1");
    EXPECT_TRUE(drafts_in(world, "runs/1").empty());
  });
}

TEST(DirectoryStore, WhatIsNoObjectIsNotListed) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    ASSERT_TRUE(world.files.make_dir(path("empty")));
    ASSERT_TRUE(world.files.open(path("bad\nname"), sys::OpenMode::kCreate));
    ASSERT_TRUE(world.files.open(path("\xff"), sys::OpenMode::kCreate));
    ASSERT_TRUE(world.files.open(path(".outlast-tmp-1"), sys::OpenMode::kCreate));
    EXPECT_EQ(keys_of(store), (std::vector<std::string>{"a"}));
    const auto page = store.list({.folders = true}, {});
    ASSERT_TRUE(page);
    EXPECT_TRUE(page->folders.empty());
  });
}

TEST(DirectoryStore, APrefixCannotLeaveTheFolder) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    ASSERT_TRUE(world.files.open("/root/secret", sys::OpenMode::kCreate));
    for (const char* prefix : {"../", "../s", "./", "/", "a/../", ".outlast-locks/"}) {
      const auto page = store.list({.prefix = prefix}, {});
      ASSERT_TRUE(page) << prefix;
      EXPECT_TRUE(page->objects.empty()) << prefix;
    }
  });
}

TEST(DirectoryStore, AnObjectAndAFolderCannotHaveOneName) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a/b", "x"));
    ASSERT_TRUE(put(store, "file", "x"));
    for (const WriteIf& condition : {WriteIf::always(), WriteIf::absent()}) {
      EXPECT_EQ(sentence_of(put(store, "a", "y", condition), ErrorCode::kInvalidArgument),
                "put /root/store/a: a folder with objects has this name, and an object cannot have "
                "it too: choose another name, or remove what is in the folder first");
      EXPECT_EQ(sentence_of(put(store, "file/c/d", "y", condition), ErrorCode::kInvalidArgument),
                "put /root/store/file/c/d: 'file' is an object, and in a folder nothing can be "
                "below one: choose another name, or remove it first");
    }
    EXPECT_EQ(sentence_of(store.head("a", {}), ErrorCode::kNotFound),
              "head /root/store/a: there is no such object");
    EXPECT_EQ(sentence_of(store.head("file/c", {}), ErrorCode::kNotFound),
              "head /root/store/file/c: there is no such object");
    EXPECT_TRUE(store.remove("a", {}));
    EXPECT_TRUE(store.remove("file/c", {}));
    EXPECT_EQ(keys_of(store), (std::vector<std::string>{"a/b", "file"}));
    EXPECT_TRUE(drafts_in(world).empty());
  });
}

TEST(DirectoryStore, AnEmptyFolderGivesItsNameToAnObject) {
  on_machine([](sim::Machine&, sys::World&, DirectoryStore& store) {
    for (const WriteIf& condition : {WriteIf::always(), WriteIf::absent()}) {
      ASSERT_TRUE(put(store, "a/b/c", "x"));
      ASSERT_TRUE(store.remove("a/b/c", {}));
      const auto version = put(store, "a", "y", condition);
      ASSERT_TRUE(version) << version.error().to_string();
      EXPECT_EQ(read(store, "a"), "y");
      ASSERT_TRUE(store.remove("a", {}));
    }
  });
}

TEST(DirectoryStore, NamesThatAFileCannotHaveAreRefused) {
  on_machine([](sim::Machine&, sys::World&, DirectoryStore& store) {
    const std::string longest(255, 'x');
    EXPECT_TRUE(put(store, "a/" + longest, "x"));
    EXPECT_NE(sentence_of(put(store, "a/" + longest + "x/b", "x"), ErrorCode::kInvalidArgument)
                  .find("between slashes has 256 bytes; a file's name has at most 255"),
              std::string::npos);
    EXPECT_NE(sentence_of(put(store, "a/.outlast-tmp-1", "x"), ErrorCode::kInvalidArgument)
                  .find("are kept for outlast's own files"),
              std::string::npos);
    EXPECT_TRUE(put(store, "a/.outlast", "x"));
  });
}

TEST(DirectoryStore, TheFirstPutMakesTheFolder) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore&) {
    DirectoryStore store = store_in(world, "/far/away/");
    EXPECT_EQ(
        sentence_of(store.head("a", {}), ErrorCode::kNotFound),
        "head /far/away/a: there is no folder /far/away; is it mounted here? The first object "
        "that is put makes it");
    (void)sentence_of(store.list({}, {}), ErrorCode::kNotFound);
    (void)sentence_of(store.list({.prefix = "a/b"}, {}), ErrorCode::kNotFound);
    (void)sentence_of(store.server_time({}), ErrorCode::kNotFound);
    EXPECT_TRUE(store.remove("a", {}));
    EXPECT_FALSE(world.files.stat("/far"));
    EXPECT_TRUE(put(store, "a", "x", WriteIf::absent()));
    EXPECT_EQ(keys_of(store), (std::vector<std::string>{"a"}));
  });
}

TEST(DirectoryStore, AFileIsNoStore) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore&) {
    ASSERT_TRUE(sys::write_file_atomically(world.files, "/file", as_bytes("x")));
    DirectoryStore store = store_in(world, "/file");
    EXPECT_EQ(sentence_of(put(store, "a", "x"), ErrorCode::kInvalidArgument),
              "put /file/a: /file is a file, and a store is a folder: name another");
    EXPECT_EQ(sentence_of(store.list({}, {}), ErrorCode::kInvalidArgument),
              "list /file/: /file is a file, and a store is a folder: name another");
    (void)sentence_of(store.head("a", {}), ErrorCode::kInvalidArgument);
  });
}

TEST(DirectoryStore, NoTwoVersionsAreEqual) {
  sys::testing::real_world().run([](sys::World& world, const std::string& scratch) {
    DirectoryStore store = store_in(world, scratch);
    std::set<std::string> versions;
    std::size_t writes = 0;
    for (int i = 0; i < 50; ++i) {
      // Freed inodes are given out again at once, and the kernel's clock ticks every few ms.
      for (const WriteIf& condition : {WriteIf::absent(), WriteIf::always(), WriteIf::always()}) {
        const auto version = put(store, "a", "same", condition);
        ASSERT_TRUE(version) << version.error().to_string();
        versions.insert(*version);
        ++writes;
      }
      ASSERT_TRUE(store.remove("a", {}));
    }
    EXPECT_EQ(versions.size(), writes);
  });
}

TEST(DirectoryStore, AnOverwriteIsLaterThanAFileOfTheFuture) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    const WallTime future = world.clock.wall_now() + std::chrono::hours(1000);
    ASSERT_TRUE(world.files.open(path("a"), sys::OpenMode::kWrite).value()->set_modified(future));
    const auto version = put(store, "a", "y");
    ASSERT_TRUE(version);
    EXPECT_EQ(store.head("a", {})->version, *version);
    EXPECT_GT(store.head("a", {})->modified, future);
  });
}

// Against the simplest store there is: whatever is asked, both answer alike.
TEST(DirectoryStore, ListsAsAStoreInMemoryDoes) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    MemoryBucket bucket;
    MemoryStore model(bucket, world.clock);
    Random& random = world.random;
    const auto random_key = [&] {
      // Segments before '/' are letters only, so that none is both a file and a folder.
      std::string key;
      while (random.chance(0.5)) {
        key += std::string(1, "ab"[random.below(2)]) + (random.chance(0.3) ? "-/" : "/");
      }
      return key + "01"[random.below(2)] + (random.chance(0.5) ? "." : "");
    };
    for (int i = 0; i < 40; ++i) {
      const std::string key = random_key();
      if (random.chance(0.3)) {
        ASSERT_TRUE(store.remove(key, {}) && model.remove(key, {}));
      } else {
        ASSERT_TRUE(put(store, key, "x") && put(model, key, "x"));
      }
    }
    for (int i = 0; i < 300; ++i) {
      ListOptions options{.prefix = random.chance(0.5) ? random_key() : "",
                          .start_after = random.chance(0.5) ? random_key() : "",
                          .folders = random.chance(0.5),
                          .page_max = static_cast<std::uint32_t>(1 + random.below(4))};
      options.prefix.resize(random.below(options.prefix.size() + 1));
      options.start_after.resize(random.below(options.start_after.size() + 1));
      do {
        const auto ours = store.list(options, {});
        const auto theirs = model.list(options, {});
        ASSERT_TRUE(ours && theirs);
        ASSERT_EQ(ours->folders, theirs->folders) << options.prefix << " " << options.start_after;
        ASSERT_EQ(ours->objects.size(), theirs->objects.size());
        for (std::size_t at = 0; at < ours->objects.size(); ++at) {
          ASSERT_EQ(ours->objects[at].key, theirs->objects[at].key);
        }
        ASSERT_EQ(ours->next, theirs->next);
        options.page_token = ours->next;
      } while (!options.page_token.empty());
    }
  });
}

}  // namespace
}  // namespace outlast::store
