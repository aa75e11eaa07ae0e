#include "sys/posix_local_socket.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/local_socket.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_shared_memory.h"
#include "sys/posix_wait.h"

namespace outlast::sys {
namespace {

constexpr std::chrono::milliseconds kConnectAgainAfter(10);

Error other_side_gone() {
  return {ErrorCode::kUnavailable, "the process at the other end of a socket has gone"};
}

// Makes a call of the kernel that does not wait, again and again until it has something to say,
// which it returns: what the call does, or -errno.
struct Waited {
  int fd = -1;
  short events = 0;
  const char* doing = "";
};
template <typename Call>
Result<ssize_t> when_ready(const Waited& waited, const CallContext& ctx, Call call) {
  std::optional<FdWait> fd_wait;  // most often nobody has to wait
  while (true) {
    const ssize_t n = retry_eintr(call);
    if (n >= 0) return n;
    if (errno != EAGAIN) return -errno;
    if (!fd_wait) fd_wait.emplace(ctx);
    if (fd_wait->past_deadline()) {
      return Error(ErrorCode::kDeadlineExceeded,
                   fmt::format("{}: the deadline passed", waited.doing));
    }
    pollfd ready{.fd = waited.fd, .events = waited.events, .revents = 0};
    OUTLAST_TRY(fd_wait->wait(std::span(&ready, 1)).while_doing(waited.doing));
  }
}

// Room for one descriptor, as the kernel wants it. It may hold more because of the alignment.
using Control = std::array<std::byte, CMSG_SPACE(sizeof(int))>;

class PosixLocalSocket : public LocalSocket {
 public:
  explicit PosixLocalSocket(Fd fd) : fd_(std::move(fd)), buffer_(kLocalMessageMax) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) peer_pid_ = peer.pid;
  }

  Result<void> send(const LocalMessage& message, const CallContext& ctx) override {
    OUTLAST_TRY(check_local_message(message));
    std::string text = message.text;  // the kernel's parameter is not const
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) Control control{};
    if (message.memory) {
      const auto* memory = dynamic_cast<const PosixSharedMemory*>(message.memory.get());
      if (memory == nullptr) {
        return Error(ErrorCode::kInvalidArgument, "this memory cannot be handed over");
      }
      put_descriptor(header, control, memory->fd());
    }
    OUTLAST_TRY_ASSIGN(
        const ssize_t n,
        when_ready({.fd = fd_.get(), .events = POLLOUT, .doing = "send a message"}, ctx,
                   [&] { return ::sendmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL); }));
    if (n == -EPIPE || n == -ECONNRESET) return other_side_gone();
    if (n < 0) return posix_error(static_cast<int>(-n), "send a message");
    return {};
  }

  Result<LocalMessage> receive(const CallContext& ctx) override {
    iovec part{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) Control control{};
    const auto take = [&] {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      return ::recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    };
    OUTLAST_TRY_ASSIGN(
        const ssize_t n,
        when_ready({.fd = fd_.get(), .events = POLLIN, .doing = "receive a message"}, ctx, [&] {
          const ssize_t taken = take();
          // Said once, when the other side went without
          // having read all: its own is still there.
          if (taken >= 0 || errno != ECONNRESET) {
            return taken;
          }
          return take();
        }));
    if (n < 0) return posix_error(static_cast<int>(-n), "receive a message");
    std::vector<Fd> descriptors = take_descriptors(header);
    if (n == 0) return other_side_gone();
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || descriptors.size() > 1) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("process {} sent more than {} bytes or than one descriptor at once",
                               peer_pid_, kLocalMessageMax));
    }
    LocalMessage message{.text = std::string(buffer_.data(), static_cast<std::size_t>(n))};
    if (!descriptors.empty()) {
      OUTLAST_TRY_ASSIGN(message.memory,
                         map_shared_memory(std::move(descriptors.front()))
                             .while_doing(fmt::format("receive from process {}", peer_pid_)));
    }
    return message;
  }

  int peer_pid() const override { return peer_pid_; }

 private:
  static void put_descriptor(msghdr& header, Control& control, int fd) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const entry = CMSG_FIRSTHDR(&header);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(entry), &fd, sizeof fd);
  }

  // All of them are ours now, also those that nobody wants.
  static std::vector<Fd> take_descriptors(msghdr& header) {
    std::vector<Fd> result;
    for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr;
         entry = CMSG_NXTHDR(&header, entry)) {
      if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t bytes = entry->cmsg_len - CMSG_LEN(0);
      for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(entry) + at, sizeof fd);
        result.emplace_back(fd);
      }
    }
    return result;
  }

  const Fd fd_;
  int peer_pid_ = 0;
  std::vector<char> buffer_;  // of the one who receives
};

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
std::optional<FileId> id_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId{.device = info.st_dev, .inode = info.st_ino};
}

class PosixLocalListener : public LocalListener {
 public:
  PosixLocalListener(Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)), file_(id_of(path_)) {}
  ~PosixLocalListener() override {
    // Another process may have taken the name over.
    if (file_ && id_of(path_) == file_) ::unlink(path_.c_str());
  }

  Result<std::unique_ptr<LocalSocket>> accept(const CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(
        const ssize_t fd,
        when_ready({.fd = fd_.get(), .events = POLLIN, .doing = "wait for a connection"}, ctx,
                   [this] { return ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC); }));
    if (fd < 0) return posix_error(static_cast<int>(-fd), fmt::format("accept at {}", path_));
    return std::make_unique<PosixLocalSocket>(Fd(static_cast<int>(fd)));
  }

 private:
  const Fd fd_;
  const std::string path_;
  const std::optional<FileId> file_;
};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  return address;
}

class PosixLocalSockets : public LocalSockets {
 public:
  Result<std::unique_ptr<LocalListener>> listen(const std::string& path) override {
    OUTLAST_TRY(check_local_path(path));
    const std::string doing = fmt::format("listen at {}", path);
    struct stat there{};
    if (::lstat(path.c_str(), &there) == 0) {
      if (!S_ISSOCK(there.st_mode)) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("{}: there is something else that is no socket", doing));
      }
      ::unlink(path.c_str());
    }
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return posix_error(errno, doing);
    // Before it has a name: Linux gives the file what the socket has, and nobody can be quicker.
    if (::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) return posix_error(errno, doing);
    const sockaddr_un address = address_of(path);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd.get(), SOMAXCONN) != 0) {
      return posix_error(errno, doing);
    }
    return std::make_unique<PosixLocalListener>(std::move(fd), path);
  }

  Result<std::unique_ptr<LocalSocket>> connect(const std::string& path,
                                               const CallContext& ctx) override {
    OUTLAST_TRY(check_local_path(path));
    const std::string doing = fmt::format("connect to {}", path);
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return posix_error(errno, doing);
    const sockaddr_un address = address_of(path);
    while (retry_eintr([&] {
             return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                              sizeof address);
           }) != 0) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED) {
        return Error(ErrorCode::kUnavailable, fmt::format("{}: nobody listens there", doing));
      }
      if (errno != EAGAIN) return posix_error(errno, doing);
      // Too many wait to be accepted, and nothing tells when that is over.
      OUTLAST_TRY(pause(ctx).while_doing(doing));
    }
    return std::make_unique<PosixLocalSocket>(std::move(fd));
  }

 private:
  static Result<void> pause(const CallContext& ctx) {
    if (FdWait(ctx).past_deadline()) {
      return Error(ErrorCode::kDeadlineExceeded, "too many wait to be accepted there");
    }
    const MonoTime soon(std::chrono::steady_clock::now().time_since_epoch() + kConnectAgainAfter);
    return FdWait(ctx.until(soon)).wait({});
  }
};

}  // namespace

std::unique_ptr<LocalSockets> make_posix_local_sockets() {
  return std::make_unique<PosixLocalSockets>();
}

}  // namespace outlast::sys
