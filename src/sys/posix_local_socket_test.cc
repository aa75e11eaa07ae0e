#include "sys/posix_local_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/local_socket.h"
#include "sys/posix_clock.h"
#include "sys/posix_fd.h"
#include "sys/posix_shared_memory.h"
#include "sys/shared_memory.h"

namespace outlast::sys {
namespace {

sockaddr_un address_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  return address;
}

// A client that is not ours.
Fd connect_raw(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_at(path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return fd;
}

bool send_raw(int fd, std::string text, const std::vector<int>& descriptors) {
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  const std::size_t bytes = descriptors.size() * sizeof(int);
  alignas(cmsghdr) std::array<std::byte, 256> control{};
  if (bytes > 0) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const entry = CMSG_FIRSTHDR(&header);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(entry), descriptors.data(), bytes);
  }
  return ::sendmsg(fd, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

Fd memory_file(int seals, off_t size) {
  Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), size), 0);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class PosixLocalSocketTest : public ::testing::Test {
 protected:
  PosixLocalSocketTest() {
    std::string name = (std::filesystem::temp_directory_path() / "outlast-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/socket";
    auto listener = sockets_->listen(path_);
    EXPECT_TRUE(listener) << listener.error().to_string();
    if (listener) listener_ = *std::move(listener);
  }
  ~PosixLocalSocketTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<LocalSocket> accept() {
    auto socket = listener_->accept({});
    EXPECT_TRUE(socket) << socket.error().to_string();
    return socket ? *std::move(socket) : nullptr;
  }
  // What a message that another program sends comes to; the next one must be received.
  Result<LocalMessage> received(const std::string& text, const std::vector<int>& descriptors) {
    const Fd client = connect_raw(path_);
    const auto socket = accept();
    EXPECT_TRUE(send_raw(client.get(), text, descriptors));
    EXPECT_TRUE(send_raw(client.get(), "next", {}));
    auto message = socket->receive({});
    const auto next = socket->receive({});
    EXPECT_TRUE(next && next->text == "next");
    return message;
  }
  void expect_corrupt(const std::string& text, const std::vector<int>& descriptors) {
    const std::size_t before = open_descriptors();
    const auto message = received(text, descriptors);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code(), ErrorCode::kCorrupt) << message.error().to_string();
    EXPECT_EQ(open_descriptors(), before);
  }

  const std::unique_ptr<LocalSockets> sockets_ = make_posix_local_sockets();
  std::string folder_;
  std::string path_;
  std::unique_ptr<LocalListener> listener_;
};

TEST_F(PosixLocalSocketTest, OnlyThisUserCanConnect) {
  struct stat info{};
  ASSERT_EQ(::lstat(path_.c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(PosixLocalSocketTest, AProcessThatIsKilledIsGoneAndWhatItSentIsReceived) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd socket = connect_raw(path_);
    (void)send_raw(socket.get(), "one", {});
    (void)send_raw(socket.get(), "two", {});
    ::raise(SIGSTOP);
    ::_exit(1);
  }
  const auto socket = accept();
  EXPECT_EQ(socket->peer_pid(), child);
  ASSERT_TRUE(socket->send({.text = "never read"}, {}));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);  // it has sent both
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  for (const std::string expected : {"one", "two"}) {
    const auto message = socket->receive({});
    ASSERT_TRUE(message) << message.error().to_string();
    EXPECT_EQ(message->text, expected);
  }
  const auto end = socket->receive({});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kUnavailable);
}

TEST_F(PosixLocalSocketTest, MemoryIsSharedWithAnotherProcessAndOutlivesIt) {
  const auto made = make_posix_shared_memories()->make(10'000);
  ASSERT_TRUE(made) << made.error().to_string();
  const pid_t child = ::fork();
  if (child == 0) {
    auto socket = sockets_->connect(path_, {});
    const auto message = socket ? (*socket)->receive({}) : Error(ErrorCode::kFailed, "none");
    if (!message || !message->memory) ::_exit(1);
    message->memory->bytes()[9'999] = std::byte{7};
    ::_exit(0);
  }
  const auto socket = accept();
  ASSERT_TRUE(socket->send({.text = "arena", .memory = *made}, {}));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((*made)->bytes()[9'999], std::byte{7});
}

TEST_F(PosixLocalSocketTest, WhatAKilledProcessLeftIsReplaced) {
  const std::string path = folder_ + "/left";
  {
    const Fd left(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_at(path);
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(left.get(), 1), 0);
  }
  const auto nobody = sockets_->connect(path, {});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code(), ErrorCode::kUnavailable);
  const auto listener = sockets_->listen(path);
  ASSERT_TRUE(listener) << listener.error().to_string();
  EXPECT_TRUE(sockets_->connect(path, {}));
}

TEST_F(PosixLocalSocketTest, MemoryOfAnotherProgramIsTakenIfItCannotGetShorter) {
  const Fd sealed = memory_file(F_SEAL_SHRINK, 5000);
  const auto message = received("memory", {sealed.get()});
  ASSERT_TRUE(message) << message.error().to_string();
  ASSERT_TRUE(message->memory);
  EXPECT_EQ(message->memory->bytes().size(), 5000U);
}

TEST_F(PosixLocalSocketTest, WhatIsNoSuchMemoryIsRefusedAndClosed) {
  const Fd unsealed = memory_file(0, 5000);
  const Fd grows_only = memory_file(F_SEAL_GROW, 5000);
  const Fd empty = memory_file(F_SEAL_SHRINK, 0);
  const Fd read_only_later = memory_file(F_SEAL_SHRINK | F_SEAL_WRITE, 5000);
  const Fd file(::open((folder_ + "/file").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  for (const Fd* fd : {&unsealed, &grows_only, &empty, &read_only_later, &file}) {
    ASSERT_TRUE(*fd);
    expect_corrupt("memory", {fd->get()});
  }
}

TEST_F(PosixLocalSocketTest, MoreThanOneMessageMayBeIsRefusedAndClosed) {
  const Fd memory = memory_file(F_SEAL_SHRINK, 5000);
  expect_corrupt("two", {memory.get(), memory.get()});
  expect_corrupt("five", std::vector<int>(5, memory.get()));
  expect_corrupt(std::string(kLocalMessageMax + 1, 'x'), {});
}

TEST_F(PosixLocalSocketTest, NobodyCanMakeOurMemoryShorterOrTakeItAway) {
  const auto made = make_posix_shared_memories()->make(5000);
  ASSERT_TRUE(made) << made.error().to_string();
  const auto* memory = dynamic_cast<PosixSharedMemory*>(made->get());
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(::ftruncate(memory->fd(), 100), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fcntl(memory->fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
}

TEST_F(PosixLocalSocketTest, WhoConnectsWhereTooManyWaitIsPatient) {
  const std::string path = folder_ + "/crowded";
  const Fd crowded(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_at(path);
  ASSERT_EQ(::bind(crowded.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(crowded.get(), 0), 0);
  const auto first = sockets_->connect(path, {});
  ASSERT_TRUE(first) << first.error().to_string();
  const auto clock = make_posix_clock();
  const auto second =
      sockets_->connect(path, {.deadline = clock->mono_now() + std::chrono::milliseconds(30)});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace outlast::sys
