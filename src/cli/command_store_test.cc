#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;

// A machine with a few files in /data.
Ran run_on_files(const std::vector<std::string>& arguments) {
  CommandRunner runner;
  runner.add_file("/data/a.txt", "alpha");
  runner.add_file("/data/deep/b.txt", "beta");
  runner.add_file("/data/deep/er/c d.txt", "gamma");
  return runner.run(arguments);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StoreLs, ShowsOneLevelOrAll) {
  const Ran level = run_on_files({"store", "ls", "/data"});
  EXPECT_EQ(level.exit_code, 0) << level.err;
  EXPECT_TRUE(has(level.out, "a.txt")) << level.out;
  EXPECT_TRUE(has(level.out, "deep/")) << level.out;
  EXPECT_FALSE(has(level.out, "b.txt")) << level.out;
  const Ran all = run_on_files({"store", "ls", "-r", "/data/"});
  EXPECT_TRUE(has(all.out, "deep/er/c d.txt")) << all.out;
  EXPECT_TRUE(has(all.err, "3 objects, 14 B")) << all.err;
}

TEST(StoreLs, ShowsASingleObject) {
  const Ran one = run_on_files({"store", "ls", "--json", "/data/deep/b.txt"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_TRUE(has(one.out, "\"size\":4")) << one.out;
}

TEST(StoreLs, SaysWhatIsNotThere) {
  const Ran none = run_on_files({"store", "ls", "/data/nothing"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_TRUE(has(none.err, "/data/nothing")) << none.err;
}

TEST(StoreCat, WritesAllOrAPart) {
  EXPECT_EQ(run_on_files({"store", "cat", "/data/a.txt"}).out, "alpha");
  EXPECT_EQ(run_on_files({"store", "cat", "--range", "1-3", "/data/a.txt"}).out, "lph");
  EXPECT_EQ(run_on_files({"store", "cat", "--range", "3-", "/data/a.txt"}).out, "ha");
  for (const char* bad : {"3", "-3", "5-2", "a-b", ""}) {
    EXPECT_EQ(run_on_files({"store", "cat", "--range", bad, "/data/a.txt"}).exit_code, 2) << bad;
  }
}

TEST(StoreCp, CopiesAFile) {
  CommandRunner runner;
  runner.add_file("/data/a.txt", "alpha");
  runner.run_body([](sys::World& world) {
    const auto copy = [&world](std::vector<std::string> words) {
      words.insert(words.begin(), {"store", "cp"});
      return static_cast<int>(run(words, world));
    };
    const auto content = [&world](const std::string& path) {
      return sys::read_file(world.files, path, 100).value_or("(none)");
    };
    EXPECT_EQ(copy({"/data/a.txt", "/copy/b.txt"}), 0);
    EXPECT_EQ(content("/copy/b.txt"), "alpha");
    EXPECT_EQ(copy({"/data/a.txt", "file:///copy/"}), 0);
    EXPECT_EQ(content("/copy/a.txt"), "alpha");
    EXPECT_EQ(copy({"/data/a.txt", "/copy"}), 0);  // it is a folder by now
    EXPECT_EQ(copy({"--recursive", "/copy", "/again"}), 0);
    EXPECT_EQ(content("/again/b.txt"), "alpha");
    EXPECT_EQ(copy({"/copy/", "/again"}), 3);  // a folder without --recursive
    EXPECT_EQ(copy({"/data/none", "/again"}), 3);
    EXPECT_EQ(copy({"--parallel", "0", "/data/a.txt", "/again"}), 2);
  });
}

TEST(StoreRm, RemovesOneOrAll) {
  CommandRunner runner;
  runner.add_file("/data/a.txt", "alpha");
  runner.add_file("/data/deep/b.txt", "beta");
  runner.add_file("/data/deep/c.txt", "gamma");
  runner.run_body([](sys::World& world) {
    const auto remove = [&world](std::vector<std::string> words) {
      words.insert(words.begin(), {"store", "rm"});
      return static_cast<int>(run(words, world));
    };
    EXPECT_EQ(remove({"/data/none.txt"}), 3);
    EXPECT_EQ(remove({"/data/deep/"}), 3);  // a folder without --recursive
    EXPECT_EQ(remove({"/data/a.txt"}), 0);
    EXPECT_FALSE(world.files.stat("/data/a.txt"));
    EXPECT_EQ(remove({"-r", "/data/deep"}), 0);
    EXPECT_FALSE(world.files.stat("/data/deep/b.txt"));
    EXPECT_FALSE(world.files.stat("/data/deep/c.txt"));
  });
}

TEST(StoreCheck, CallsAFolderSafeAndLeavesNothing) {
  CommandRunner runner;
  runner.add_file("/root/keep.txt", "mine");
  runner.run_body([](sys::World& world) {
    EXPECT_EQ(static_cast<int>(
                  run(std::vector<std::string>{"store", "check", "--rounds", "2", "/root"}, world)),
              0);
  });
  const std::string& out = runner.machine().console().out_text;
  EXPECT_TRUE(has(out, "/root is safe as a root")) << out;
  EXPECT_FALSE(has(out, "BROKEN")) << out;
}

TEST(StoreCheck, RefusesUselessNumbers) {
  EXPECT_EQ(run_on_files({"store", "check", "--writers", "1", "/data"}).exit_code, 2);
  EXPECT_EQ(run_on_files({"store", "check", "--rounds", "0", "/data"}).exit_code, 2);
}

TEST(StoreUrls, AreRefusedWithASentence) {
  for (const char* url : {"s3://", "s4://bucket/x", "gs:///x", "az://onlyaccount"}) {
    const Ran ran = run_on_files({"store", "ls", url});
    EXPECT_EQ(ran.exit_code, 3) << url << ": " << ran.err;
    EXPECT_TRUE(has(ran.err, url)) << ran.err;
  }
}

}  // namespace
}  // namespace outlast::cli
