#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sdk/arena.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {

// A folder that is removed again.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "outlast-sdk-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The agent's side of the contract, in a thread: listens, gives every trainer the same arena, one
// trainer after the other, and keeps what they say. While it exists, OUTLAST_SOCKET names it.
class FakeAgent {
 public:
  struct Options {
    std::uint64_t slots = 2;
    std::uint64_t protocol = kArenaVersion;
    std::uint64_t version = kArenaVersion;  // of the arena
    std::uint64_t magic = kArenaMagic;
    std::uint64_t bytes_missing = 0;  // of the memory
    bool has_memory = true;
    std::string refusal = {};
    std::string answer = {};  // instead of a welcome
    std::uint64_t memory_max = UINT64_MAX;
  };

  FakeAgent() : FakeAgent(Options{}) {}
  explicit FakeAgent(Options options) : options_(std::move(options)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener_, 8) != 0) {
      std::abort();
    }
    ::setenv("OUTLAST_SOCKET", path_.c_str(), 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeAgent() {
    die();
    ::unsetenv("OUTLAST_SOCKET");
    if (arena_ != nullptr) ::munmap(arena_, arena_bytes(options_.slots, slot_bytes_));
    if (memory_ >= 0) ::close(memory_);
  }
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;

  // As if it were killed: the connection ends, and nobody listens any more.
  void die() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      ::shutdown(listener_, SHUT_RDWR);
      if (connection_ >= 0) ::shutdown(connection_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
    std::filesystem::remove(path_);
  }

  const std::string& path() const { return path_; }
  // Of the arena, which is there once a trainer was welcome.
  ArenaWords words() {
    wait_until([this] { return arena_ != nullptr; });
    return ArenaWords(arena_);
  }
  std::optional<SlotSnapshot> newest() {
    ArenaWords all = words();
    return newest_snapshot(all, options_.slots);
  }
  std::span<std::byte> bytes_of(const SlotSnapshot& snapshot) {
    return {arena_ + slot_begin(snapshot.slot, slot_bytes_), snapshot.length};
  }

  // Waits until so many messages of a type have come, and returns all.
  std::vector<std::string> wait_for(const std::string& type, std::size_t count) {
    std::vector<std::string> found;
    wait_until([&] {
      found.clear();
      for (const std::string& message : messages_) {
        if (read_json(message)->find("type")->text == type) found.push_back(message);
      }
      return found.size() >= count;
    });
    return found;
  }
  // Waits until so many trainers have come and gone.
  void wait_for_ends(std::size_t count) {
    wait_until([&] { return ended_ >= count; });
  }

 private:
  void wait_until(const std::function<bool()>& is_so) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, is_so);
  }

  void serve() {
    while (true) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      {
        const std::lock_guard lock(mutex_);
        connection_ = connection;
        if (connection >= 0 && ends_) ::shutdown(connection, SHUT_RDWR);
      }
      if (connection < 0) return;
      std::string text(64U << 10U, '\0');
      while (true) {
        const ssize_t bytes = ::recv(connection, text.data(), text.size(), 0);
        if (bytes <= 0) break;
        if (!take(connection, text.substr(0, static_cast<std::size_t>(bytes)))) break;
      }
      const std::lock_guard lock(mutex_);
      connection_ = -1;
      ::close(connection);
      ++ended_;
      changed_.notify_all();
      if (ends_) return;
    }
  }

  bool take(int connection, const std::string& text) {
    bool goes_on = true;
    const std::lock_guard lock(mutex_);
    const auto message = read_json(text);
    if (message->find("type")->text == "hello") {
      goes_on = welcome(connection, *message->find("bytes")->whole);
    }
    messages_.push_back(text);
    changed_.notify_all();
    return goes_on;
  }

  bool welcome(int connection, std::uint64_t bytes) {
    if (!options_.refusal.empty() || bytes > options_.memory_max) {
      std::string refusal = R"({"type":"refused","why":)";
      append_json_string(refusal, options_.refusal.empty() ? "the state does not fit into memory"
                                                           : options_.refusal);
      reply(connection, refusal + "}", -1);
      return false;
    }
    if (arena_ == nullptr) make_arena(bytes);
    reply(connection, R"({"type":"to be passed over"})", -1);
    if (!options_.answer.empty()) {
      reply(connection, options_.answer, memory_);
    } else {
      reply(connection,
            R"({"type":"welcome","protocol":)" + std::to_string(options_.protocol) +
                R"(,"slots":)" + std::to_string(options_.slots) + R"(,"slot_bytes":)" +
                std::to_string(slot_bytes_) + R"(,"leave_code":76,"note":"","new":[{}]})",
            options_.has_memory ? memory_ : -1);
    }
    return true;
  }

  void make_arena(std::uint64_t bytes) {
    slot_bytes_ = (bytes + kArenaPage - 1) / kArenaPage * kArenaPage;
    const std::uint64_t all = arena_bytes(options_.slots, slot_bytes_);
    memory_ = ::memfd_create("arena", MFD_CLOEXEC);
    if (::ftruncate(memory_, static_cast<off_t>(all - options_.bytes_missing)) != 0) std::abort();
    void* const mapped = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (mapped == MAP_FAILED) std::abort();
    arena_ = static_cast<std::byte*>(mapped);
    ArenaWords all_words(arena_);
    all_words.store(kMagic, options_.magic);
    all_words.store(kVersion, options_.version);
    all_words.store(kSlotCount, options_.slots);
    all_words.store(kSlotBytes, slot_bytes_);
  }

  static void reply(int connection, std::string text, int fd) {
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    // A trainer may be gone by now, which is seen at the next receive.
    [[maybe_unused]] const ssize_t sent = ::sendmsg(connection, &message, MSG_NOSIGNAL);
  }

  Options options_;
  TestFolder folder_;
  std::string path_ = folder_.path() + "/socket";
  int listener_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  int connection_ = -1;
  int memory_ = -1;
  std::byte* arena_ = nullptr;
  std::uint64_t slot_bytes_ = 0;
  std::vector<std::string> messages_;
  std::size_t ended_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace outlast::sdk
