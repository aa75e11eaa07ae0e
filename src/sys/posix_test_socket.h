#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.h"
#include "sys/posix_fd.h"

// Bare sockets for tests of HTTP: peers that break off, stall, and answer what no server should.
namespace outlast::sys::testing {

// One end of a TCP connection over loopback. Confined to its owner, but for break_off().
class TestSocket {
 public:
  explicit TestSocket(Fd fd) : fd_(std::move(fd)) {}
  static TestSocket connect_to(std::uint16_t port) {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    OUTLAST_CHECK(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
                  "connect: {}", errno);
    return TestSocket(std::move(fd));
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // False at the end of the stream.
  bool read_more() {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) unread_.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
  }
  // Up to and with the first empty line; "" if the stream ended before.
  std::string read_head() {
    std::size_t end = 0;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return {};
    }
    return take(end + 4);
  }
  // A message with its body, by its Content-Length; "" if the stream ended before.
  std::string read_message() {
    std::string head = read_head();
    std::size_t length = 0;
    constexpr std::string_view kName = "Content-Length: ";
    if (const auto at = head.find(kName); at != std::string::npos) {
      const char* const digits = head.data() + at + kName.size();
      std::from_chars(digits, head.data() + head.size(), length);
    }
    while (unread_.size() < length) {
      if (!read_more()) return {};
    }
    return head + take(length);
  }
  std::string read_all() {
    while (read_more()) continue;
    return take(unread_.size());
  }
  void end_writing() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() {
    const std::scoped_lock lock(*closing_);
    fd_.reset();
  }
  // Closes so that the other end sees a reset.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  // Ends what the owner waits for; from any thread.
  void break_off() {
    const std::scoped_lock lock(*closing_);
    if (fd_) ::shutdown(fd_.get(), SHUT_RDWR);
  }

 private:
  std::string take(std::size_t count) {
    std::string taken = unread_.substr(0, count);
    unread_.erase(0, count);
    return taken;
  }

  Fd fd_;
  std::unique_ptr<std::mutex> closing_ = std::make_unique<std::mutex>();  // held to close fd_
  std::string unread_;
};

// Accepts on a free port of loopback and plays `script` on every connection, each in a thread of
// its own. Destroying it breaks the connections.
class TestServer {
 public:
  // `number` counts the connections from 1.
  using Script = std::function<void(TestSocket& socket, int number)>;

  explicit TestServer(Script script)
      : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    OUTLAST_CHECK(::bind(listener_.get(), plain, size) == 0, "bind: {}", errno);
    OUTLAST_CHECK(::listen(listener_.get(), 64) == 0, "listen: {}", errno);
    OUTLAST_CHECK(::getsockname(listener_.get(), plain, &size) == 0, "getsockname: {}", errno);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (TestSocket& socket : sockets_) socket.break_off();
    }
    for (std::thread& player : players_) player.join();
  }

  int accepted() const { return accepted_; }
  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

 private:
  void accept_all() {
    for (;;) {
      Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return;
      const int number = ++accepted_;
      const std::scoped_lock lock(mutex_);
      TestSocket& socket = sockets_.emplace_back(std::move(fd));
      players_.emplace_back([this, &socket, number] {
        script_(socket, number);
        socket.break_off();  // so that the other end sees it
      });
    }
  }

  const Script script_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::mutex mutex_;
  std::list<TestSocket> sockets_;
  std::list<std::thread> players_;
  std::thread acceptor_;
};

}  // namespace outlast::sys::testing
