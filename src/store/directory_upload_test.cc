#include "store/directory_upload.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/secret.h"
#include "sim/simulation.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "store/testing/directory_machine.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using testing::drafts_in;
using testing::kRoot;
using testing::on_machine;
using testing::put;
using testing::read;
using testing::sentence_of;
using testing::store_in;

TEST(DirectoryStore, DraftsOfTheDeadAreSweptAfterADay) {
  on_machine([](sim::Machine&, sys::World& world, DirectoryStore& store) {
    const UploadPlan plan{.size = 2, .part_bytes = 1};
    const auto old = store.start_upload("folder/old", plan, {});
    ASSERT_TRUE(old);
    ASSERT_TRUE(world.clock.sleep_for(std::chrono::hours(23), {}));
    const auto young = store.start_upload("folder/young", plan, {});
    ASSERT_TRUE(young);
    ASSERT_TRUE(world.clock.sleep_for(std::chrono::hours(2), {}));
    EXPECT_EQ(drafts_in(world, "folder").size(), 4U);
    DirectoryStore next = store_in(world, std::string(kRoot));
    ASSERT_TRUE(put(next, "folder/a", "x"));
    EXPECT_EQ(drafts_in(world, "folder").size(), 2U);
    (void)sentence_of(next.resume_upload("folder/old", plan, (*old)->token(), {}),
                      ErrorCode::kNotFound);
    EXPECT_TRUE(next.resume_upload("folder/young", plan, (*young)->token(), {}));
  });
}

TEST(DirectoryUpload, APublishedDraftIsNotWrittenToAgain) {
  on_machine([](sim::Machine& machine, sys::World&, DirectoryStore& store) {
    const UploadPlan plan{.size = 2, .part_bytes = 1, .condition = WriteIf::absent()};
    const auto upload = store.start_upload("a", plan, {});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("1"), {}));
    ASSERT_TRUE((*upload)->put_part(1, as_bytes("2"), {}));
    machine.files().set_fault(
        [](std::string_view operation, const std::string&) -> std::optional<Error> {
          if (operation != "sync_dir") return std::nullopt;
          return Error(ErrorCode::kFailed, "sync: Input/output error");
        });
    (void)sentence_of((*upload)->complete({}), ErrorCode::kUnknownOutcome);
    machine.files().set_fault({});
    EXPECT_EQ(read(store, "a"), "12");
    const std::string version = store.head("a", {})->version;
    EXPECT_FALSE((*upload)->put_part(0, as_bytes("X"), {}));
    (void)sentence_of(store.resume_upload("a", plan, (*upload)->token(), {}), ErrorCode::kNotFound);
    const auto completed = (*upload)->complete({});
    ASSERT_TRUE(completed) << completed.error().to_string();
    EXPECT_EQ(*completed, version);
    EXPECT_EQ(read(store, "a"), "12");
  });
}

TEST(DirectoryUpload, AFailedSyncEndsIt) {
  on_machine([](sim::Machine& machine, sys::World&, DirectoryStore& store) {
    const UploadPlan plan{.size = 2, .part_bytes = 1};
    const auto upload = store.start_upload("a", plan, {});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->put_part(0, as_bytes("1"), {}));
    machine.files().set_fault(
        [](std::string_view operation, const std::string&) -> std::optional<Error> {
          if (operation != "sync") return std::nullopt;
          return Error(ErrorCode::kFailed, "sync: Input/output error");
        });
    (void)sentence_of((*upload)->put_part(1, as_bytes("2"), {}), ErrorCode::kFailed);
    machine.files().set_fault({});
    (void)sentence_of((*upload)->put_part(1, as_bytes("2"), {}), ErrorCode::kFailed);
    (void)sentence_of((*upload)->complete({}), ErrorCode::kFailed);
    (void)sentence_of(store.resume_upload("a", plan, (*upload)->token(), {}), ErrorCode::kNotFound);
    EXPECT_TRUE((*upload)->abort({}));
  });
}

TEST(DirectoryUpload, ATokenLeadsToItsOwnUploadOnly) {
  on_machine([](sim::Machine&, sys::World&, DirectoryStore& store) {
    const UploadPlan plan{.size = 2, .part_bytes = 1};
    const auto upload = store.start_upload("a", plan, {});
    ASSERT_TRUE(upload);
    const auto resume = [&](const std::string& key, const UploadPlan& as,
                            const std::string& token) {
      return store.resume_upload(key, as, Secret<std::string>(token), {});
    };
    const std::string token = (*upload)->token().reveal();
    EXPECT_TRUE(resume("a", plan, token));
    (void)sentence_of(resume("b", plan, token), ErrorCode::kInvalidArgument);
    (void)sentence_of(resume("a", {.size = 3, .part_bytes = 1}, token),
                      ErrorCode::kInvalidArgument);
    for (const std::string& bad : {std::string(), token + "0", "../" + token, token + ".parts"}) {
      (void)sentence_of(resume("a", plan, bad), ErrorCode::kNotFound);
    }
  });
}

}  // namespace
}  // namespace outlast::store
