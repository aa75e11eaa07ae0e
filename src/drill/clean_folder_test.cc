#include "drill/clean_folder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::drill {
namespace {

constexpr std::uint64_t kBytesMax = 1000;

// On a simulated machine with a project in /here.
void on_machine(const std::function<void(sys::FileSystem&)>& body) {
  sim::Simulation simulation{sim::KernelOptions{}};
  sim::Machine& machine = simulation.add_machine("m", 1ULL << 30U);
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          for (const std::string path :
               {"/here/train.py", "/here/.git/objects", "/here/outlast-root/jobs", "/here/src/a.py",
                "/here/src/.git/x", "/here/checkpoints/last.pt"}) {
            ASSERT_TRUE(sys::make_dirs(world.files, sys::parent_path(path)));
            ASSERT_TRUE(sys::write_file_atomically(world.files, path, as_bytes("text of " + path)));
          }
          ASSERT_TRUE(world.files.make_symlink("../data", "/here/data"));
          ASSERT_TRUE(world.files.make_symlink("src/a.py", "/here/b.py"));
          ASSERT_TRUE(world.files.set_mode("/here/train.py", 0755));
          ASSERT_TRUE(world.files.make_dir("/to"));
          body(world.files);
        },
        {});
  });
  OUTLAST_CHECK(outcome.ok, "{}", outcome.failure);
}

std::vector<std::string> names(sys::FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  const auto entries = files.list(folder);
  for (const sys::DirectoryEntry& entry : *entries) found.push_back(entry.name);
  return found;
}
using Names = std::vector<std::string>;

const CopyPlan kPlan = {
    .from = "/here", .left_out = {"checkpoints"}, .left_out_names = {".git", "outlast-root"}};

TEST(CleanFolder, HasTheCodeAndNothingOfEarlierRuns) {
  on_machine([](sys::FileSystem& files) {
    ASSERT_TRUE(copy_files(files, kPlan, "/to", {}));
    EXPECT_EQ(names(files, "/to"), (Names{"b.py", "data", "src", "train.py"}));
    EXPECT_EQ(names(files, "/to/src"), Names{"a.py"});
    EXPECT_EQ(*sys::read_file(files, "/to/src/a.py", kBytesMax), "text of /here/src/a.py");
    EXPECT_EQ(files.stat("/to/train.py")->mode, 0755U);
    EXPECT_EQ(files.stat("/to/train.py")->modified, files.stat("/here/train.py")->modified);
  });
}

TEST(CleanFolder, LinksThatLeadOutStillLeadThere) {
  on_machine([](sys::FileSystem& files) {
    ASSERT_TRUE(copy_files(files, kPlan, "/to", {}));
    EXPECT_EQ(*files.read_symlink("/to/data"), "/data");
    EXPECT_EQ(*files.read_symlink("/to/b.py"), "src/a.py");
  });
}

TEST(CleanFolder, OnlyWhatIsListedIfThereIsAList) {
  on_machine([](sys::FileSystem& files) {
    CopyPlan plan = kPlan;
    plan.files = {"src/a.py"};
    ASSERT_TRUE(copy_files(files, plan, "/to", {}));
    EXPECT_EQ(names(files, "/to"), Names{"src"});
    plan.files = {"absent.py"};
    const auto measured = measure_copy(files, plan, kBytesMax, {});
    ASSERT_FALSE(measured);
    EXPECT_EQ(measured.error().code(), ErrorCode::kNotFound);
  });
}

TEST(CleanFolder, RefusesToCopyALot) {
  on_machine([](sys::FileSystem& files) {
    EXPECT_EQ(*measure_copy(files, kPlan, kBytesMax, {}), 44U);
    const auto measured = measure_copy(files, kPlan, 40, {});
    ASSERT_FALSE(measured);
    EXPECT_EQ(measured.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(measured.error().to_string().find("'files:'"), std::string::npos);
  });
}

}  // namespace
}  // namespace outlast::drill
