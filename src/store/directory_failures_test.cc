// What a DirectoryStore says and leaves when the file system does not do what it is asked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/time.h"
#include "sim/simulation.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "store/testing/directory_machine.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
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

TEST(DirectoryStore, AReadOnlyFolderSaysSo) {
  on_machine([](sim::Machine& machine, sys::World&, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    machine.files().set_fault(
        [](std::string_view operation, const std::string& file) -> std::optional<Error> {
          if (operation == "list" || operation == "stat" || operation == "read") return {};
          if (operation == "open" && file.find(".outlast-") == std::string::npos) return {};
          return Error(ErrorCode::kPermissionDenied,
                       fmt::format("{} {}: Read-only file system", operation, file));
        });
    EXPECT_NE(sentence_of(put(store, "b", "x"), ErrorCode::kPermissionDenied)
                  .find("give this user the right to read and write in that folder"),
              std::string::npos);
    (void)sentence_of(store.remove("a", {}), ErrorCode::kPermissionDenied);
    EXPECT_EQ(read(store, "a"), "x");
  });
}

TEST(DirectoryStore, AFullDiskTakesNothing) {
  on_machine([](sim::Machine& machine, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "before"));
    machine.disk().set_capacity(100);
    const std::string large(1000, 'x');
    for (const char* key : {"a", "b"}) {
      EXPECT_NE(sentence_of(put(store, key, large), ErrorCode::kNoSpace)
                    .find("free some space on that disk"),
                std::string::npos);
    }
    EXPECT_TRUE(drafts_in(world).empty());
    EXPECT_EQ(read(store, "a"), "before");
    EXPECT_EQ(keys_of(store), (std::vector<std::string>{"a"}));
  });
}

TEST(DirectoryStore, ALockThatIsNotGivenBackEndsWithTheDeadline) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    std::vector<std::unique_ptr<sys::FileLock>> held;
    for (int i = 0; i < 64; ++i) {
      held.push_back(world.files.lock(path(fmt::format(".outlast-locks/{:02}", i)), {}).value());
    }
    const sys::CallContext ctx{.deadline = world.clock.mono_now() + std::chrono::seconds(5)};
    (void)sentence_of(store.put("a", as_bytes("y"), {}, ctx), ErrorCode::kDeadlineExceeded);
    (void)sentence_of(store.remove("a", ctx), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(read(store, "a"), "x");
    EXPECT_TRUE(put(store, "b", "needs no lock", WriteIf::absent()));
    EXPECT_TRUE(drafts_in(world).empty());
  });
}

// A file server can do what it was asked and its answer be lost.
TEST(DirectoryStore, ALostAnswerIsLookedAfter) {
  on_machine([](sim::Machine& machine, sys::World&, DirectoryStore& store) {
    machine.files().set_fault(
        [&](std::string_view operation, const std::string& file) -> std::optional<Error> {
          if (operation == "link") {
            EXPECT_TRUE(machine.disk().link(file, path("a"), WallTime()));
            return Error(ErrorCode::kAlreadyExists, "link: File exists");
          }
          if (operation == "rename") {
            EXPECT_TRUE(machine.disk().rename(file, path("a"), WallTime()));
            return Error(ErrorCode::kNotFound, "rename: No such file or directory");
          }
          return std::nullopt;
        });
    const auto made = put(store, "a", "first", WriteIf::absent());
    ASSERT_TRUE(made) << made.error().to_string();
    const auto replaced = put(store, "a", "second", WriteIf::version_is(*made));
    ASSERT_TRUE(replaced) << replaced.error().to_string();
    EXPECT_EQ(read(store, "a"), "second");
    EXPECT_EQ(store.head("a", {})->version, *replaced);
  });
}

TEST(DirectoryStore, WhatMayHaveHappenedIsNotCalledAFailure) {
  on_machine([](sim::Machine& machine, sys::World&, DirectoryStore& store) {
    ASSERT_TRUE(put(store, "a", "x"));
    const auto fail = [&](std::string_view what) {
      machine.files().set_fault(
          [what](std::string_view operation, const std::string& file) -> std::optional<Error> {
            if (operation != what || file == "/root") return std::nullopt;
            return Error(ErrorCode::kFailed, fmt::format("{}: Input/output error", operation));
          });
    };
    fail("rename");
    (void)sentence_of(put(store, "a", "y"), ErrorCode::kUnknownOutcome);
    fail("link");
    (void)sentence_of(put(store, "b", "y", WriteIf::absent()), ErrorCode::kUnknownOutcome);
    fail("sync_dir");
    (void)sentence_of(put(store, "a", "y"), ErrorCode::kUnknownOutcome);
    (void)sentence_of(store.remove("a", {}), ErrorCode::kUnknownOutcome);
    fail("sync");
    (void)sentence_of(put(store, "c", "y"), ErrorCode::kFailed);
    machine.files().set_fault({});
    EXPECT_TRUE(keys_of(store).empty());
  });
}

}  // namespace
}  // namespace outlast::store
