#include "checkpoint/file_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/testing/trees.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint::testing {
namespace {

class FileReaders : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

Result<std::unique_ptr<FileReader>> open_reader(sys::World& world, const std::string& path) {
  return FileReader::open(world.files, world.clock, path);
}

TEST_P(FileReaders, AFileThatRestsIsReadWhole) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir);
    make.file("a", "some text");
    const auto reader = open_reader(world, make.at("a"));
    ASSERT_TRUE(reader) << reader.error().to_string();
    EXPECT_EQ((*reader)->info().size, 9U);
    Bytes bytes(4);
    ASSERT_TRUE((*reader)->read(bytes, 5));
    EXPECT_EQ(as_text(bytes), "text");
    EXPECT_TRUE((*reader)->check_unchanged());
    EXPECT_EQ((*reader)->read(bytes, 6).error().code(), ErrorCode::kConditionFailed);
  });
}

// The times of files move in steps; what is written right after the file was opened must show.
TEST_P(FileReaders, EveryChangeIsNoticed) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir);
    const auto expect_noticed = [&](const auto& change) {
      make.file("a", "some text");
      const auto reader = open_reader(world, make.at("a"));
      ASSERT_TRUE(reader);
      change();
      const auto unchanged = (*reader)->check_unchanged();
      ASSERT_FALSE(unchanged);
      EXPECT_EQ(unchanged.error().code(), ErrorCode::kConditionFailed);
      EXPECT_NE(unchanged.error().to_string().find(make.at("a")), std::string::npos);
    };
    expect_noticed([&] { make.file("a", "more text"); });
    expect_noticed([&] {
      const auto file = world.files.open(make.at("a"), sys::OpenMode::kWrite).value();
      const sys::FileInfo info = file->info().value();
      EXPECT_TRUE(file->write_at(as_bytes("X"), 0));
      EXPECT_TRUE(file->set_modified(info.modified));
    });
    expect_noticed([&] {
      make.file("b", "some text");
      EXPECT_TRUE(world.files.rename(make.at("b"), make.at("a")));
    });
    expect_noticed([&] { EXPECT_TRUE(world.files.remove_file(make.at("a"))); });
  });
}

TEST_P(FileReaders, WhatIsNoFileAnyMoreIsRefused) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir);
    make.file("secret", "text");
    make.folder("folder");
    make.symlink("symlink", "secret");
    for (const char* name : {"none", "folder", "symlink"}) {
      const auto reader = open_reader(world, make.at(name));
      ASSERT_FALSE(reader) << name;
      EXPECT_EQ(reader.error().code(), ErrorCode::kConditionFailed) << name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, FileReaders,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

}  // namespace
}  // namespace outlast::checkpoint::testing
