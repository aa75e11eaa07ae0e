// The simulated disk punishes a missing sync; this shows that the real file system calls make them,
// in the right order, by looking at the system calls themselves.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace outlast {
namespace {

namespace fs = std::filesystem;

class SyncTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v strace >/dev/null") != 0) GTEST_SKIP() << "strace is not installed";
    if (std::system("strace -o /dev/null true 2>/dev/null") != 0) {
      GTEST_SKIP() << "strace may not trace here (ptrace is forbidden)";
    }
    folder_ = fs::temp_directory_path() / ("outlast-sync-" + std::to_string(::getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // The calls that matter, one word each, with file names relative to the folder: "open file.tmp",
  // "write file.tmp", "sync file.tmp", "rename file.tmp file", "mkdir a".
  std::vector<std::string> calls_of(const std::string& what) {
    const std::string log = folder_.string() + ".strace";
    const std::string command =
        "ASAN_OPTIONS=detect_leaks=0 strace -f -y -o '" + log + "'" +
        " -e trace=openat,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,ftruncate " +
        "'" + OUTLAST_SYNC_PROBE + "' " + what + " '" + folder_.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::vector<std::string> calls;
    std::ifstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      const std::string call = understand(line);
      if (!call.empty()) calls.push_back(call);
    }
    fs::remove(log);
    return calls;
  }

  fs::path folder_;

 private:
  // `strace -y` shows descriptors as 3</path>; quotes surround path arguments.
  std::string understand(const std::string& line) const {
    static const std::map<std::string, std::string> kWords = {
        {"pwrite64(", "write"},    {"fsync(", "sync"},     {"fdatasync(", "sync"},
        {"rename(", "rename"},     {"renameat", "rename"}, {"mkdir(", "mkdir"},
        {"ftruncate(", "truncate"}};
    for (const auto& [call, word] : kWords) {
      if (line.find(call) == std::string::npos) continue;
      std::string text = word;
      for (const std::string& path : paths_in(line)) text += " " + path;
      return text;
    }
    return "";
  }

  std::vector<std::string> paths_in(const std::string& line) const {
    std::vector<std::string> paths;
    const std::string root = folder_.string();
    for (std::size_t at = line.find(root); at != std::string::npos; at = line.find(root, at + 1)) {
      const std::size_t end = line.find_first_of("\">", at);
      const std::string path = line.substr(at + root.size(), end - at - root.size());
      paths.push_back(path.empty() ? "." : path.substr(1));
    }
    return paths;
  }
};

TEST_F(SyncTest, AReplacementIsSyncedBeforeAndAfterItsName) {
  EXPECT_EQ(calls_of("atomic"), (std::vector<std::string>{"write file.tmp", "sync file.tmp",
                                                          "rename file.tmp file", "sync ."}));
}

TEST_F(SyncTest, AFolderIsDurableBeforeWhatLiesInIt) {
  EXPECT_EQ(calls_of("dirs"),
            (std::vector<std::string>{"sync", "mkdir a", "sync .", "mkdir a/b", "sync a"}));
}

TEST_F(SyncTest, AnIncrementIsSyncedBeforeItIsAcknowledged) {
  const std::vector<std::string> calls = calls_of("counter");
  ASSERT_GE(calls.size(), 2U);
  EXPECT_EQ(calls[calls.size() - 2], "write counter.log");
  EXPECT_EQ(calls[calls.size() - 1], "sync counter.log");
}

}  // namespace
}  // namespace outlast
