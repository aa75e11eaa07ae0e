#include "sdk/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "sdk/own_rank.h"
#include "sdk/snapshots.h"
#include "sdk/testing/fake_agent.h"

namespace outlast::sdk {
namespace {

constexpr OwnRank kOwn{.rank = 1, .ranks = 2};

// Why it cannot be had; empty if it can.
std::string refusal(const std::string& folder, OwnRank own = kOwn) {
  try {
    const FolderLock lock(folder, own);
  } catch (const SnapshotError& error) {
    return error.what();
  }
  return "";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FolderLock, OneProcessHasARankInAFolder) {
  const TestFolder folder;
  const std::string own = std::to_string(::getpid());
  {
    const FolderLock lock(folder.path(), kOwn);
    EXPECT_TRUE(lock.is_held());
    EXPECT_EQ(text_of(folder.path() + "/.rank-1-of-2.lock"), own);
    EXPECT_EQ(refusal(folder.path()), "another Snapshots of this process (pid " + own +
                                          ") saves rank 1 of 2 in " + folder.path() +
                                          ": give another folder, or the right rank");
    EXPECT_EQ(refusal(folder.path(), {.rank = 0, .ranks = 2}), "");
    EXPECT_EQ(refusal(folder.path(), {.rank = 1, .ranks = 3}), "");
    EXPECT_EQ(refusal(TestFolder().path()), "");
  }
  EXPECT_EQ(refusal(folder.path()), "");
}

TEST(FolderLock, AChildDoesNotHaveItAndItEndsWithItsProcess) {
  const TestFolder folder;
  std::array<int, 2> ready{};
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(go.data()), 0);
  char byte = 0;
  const pid_t trainer = ::fork();
  if (trainer == 0) {
    std::optional<FolderLock> lock(std::in_place, folder.path(), kOwn);
    const pid_t worker = ::fork();
    // Both wait until nobody can write to `go` any more. The worker outlives the trainer.
    ::close(go[1]);
    if (worker == 0) [[maybe_unused]]
      const ssize_t told = ::write(ready[1], &byte, 1);
    [[maybe_unused]] const ssize_t end = ::read(go[0], &byte, 1);
    ::_exit(0);
  }
  ::close(ready[1]);
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(refusal(folder.path()), "another process (pid " + std::to_string(trainer) +
                                        ") saves rank 1 of 2 in " + folder.path() +
                                        ": give another folder, or the right rank");
  ASSERT_EQ(::kill(trainer, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(trainer, &status, 0), trainer);
  EXPECT_EQ(refusal(folder.path()), "");  // though the worker lives
  for (const int end : {ready[0], go[0], go[1]}) ::close(end);
}

TEST(FolderLock, AFolderThatIsNoneIsRefused) {
  EXPECT_NE(refusal("/nowhere/at all").find("cannot write /nowhere/at all/.rank-1-of-2.lock"),
            std::string::npos);
}

}  // namespace
}  // namespace outlast::sdk
