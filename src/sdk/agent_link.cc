#include "sdk/agent_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sdk/own_fd.h"
#include "sdk/own_rank.h"
#include "sdk/say.h"
#include "sdk/snapshots.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {
namespace {

[[noreturn]] void not_understood(const std::string& what) {
  throw SnapshotError("who listens at OUTLAST_SOCKET " + what +
                      ": use the same version of outlast and of this library");
}

std::optional<std::uint64_t> number_in(const JsonValue& message, std::string_view name) {
  const JsonValue* const value = message.find(name);
  return value == nullptr ? std::nullopt : value->whole;
}

std::string text_in(const JsonValue& message, std::string_view name) {
  const JsonValue* const value = message.find(name);
  return value == nullptr ? std::string() : value->text;
}

std::string hello_text(const OwnRank& own, std::uint64_t bytes) {
  return R"({"type":"hello","protocol":)" + std::to_string(kProtocol) + R"(,"rank":)" +
         std::to_string(own.rank) + R"(,"ranks":)" + std::to_string(own.ranks) + R"(,"bytes":)" +
         std::to_string(bytes) + R"(,"sdk":"c++"})";
}

// Takes everything that came along, so that nothing stays open that nobody knows of.
OwnFd first_fd(msghdr& message) {
  OwnFd first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      OwnFd fd(number);
      if (!first) first = std::move(fd);
    }
  }
  return first;
}

}  // namespace

std::string agent_socket() {
  const char* const path = std::getenv("OUTLAST_SOCKET");
  return path == nullptr ? std::string() : std::string(path);
}

AgentLink::AgentLink(OwnFd socket) : socket_(std::move(socket)) {}

bool AgentLink::is_socket(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

std::unique_ptr<AgentLink> AgentLink::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return nullptr;
  path.copy(address.sun_path, path.size());
  OwnFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return nullptr;
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  while (::connect(socket.get(), name, sizeof(address)) != 0) {
    if (errno != EINTR) return nullptr;
  }
  return std::unique_ptr<AgentLink>(new AgentLink(std::move(socket)));
}

Welcome AgentLink::hello(const OwnRank& own, std::uint64_t bytes) {
  send(hello_text(own, bytes));
  while (true) {
    Welcome welcome;
    const auto message = read_json(receive(welcome.memory));
    if (!message || message->kind != JsonValue::Kind::kObject) {
      not_understood("answers with something else than a message");
    }
    const std::string type = text_in(*message, "type");
    if (type == "refused") {
      throw SnapshotError("outlast refuses this trainer: " + text_in(*message, "why"));
    }
    if (type != "welcome") continue;
    const std::uint64_t protocol = number_in(*message, "protocol").value_or(0);
    if (protocol != kProtocol) {
      not_understood("speaks protocol " + std::to_string(protocol) + ", and this is " +
                     std::to_string(kProtocol));
    }
    welcome.form = {.slots = number_in(*message, "slots").value_or(0),
                    .slot_bytes = number_in(*message, "slot_bytes").value_or(0)};
    if (welcome.form.slot_bytes < bytes) {
      not_understood("gives slots of " + std::to_string(welcome.form.slot_bytes) +
                     " bytes for a state of " + std::to_string(bytes));
    }
    constexpr std::uint64_t kExitCodeMax = 255;
    const std::uint64_t code = number_in(*message, "leave_code").value_or(kDefaultLeaveCode);
    if (code <= kExitCodeMax) welcome.leave_code = static_cast<int>(code);
    welcome.note = text_in(*message, "note");
    if (!welcome.memory) not_understood("sends no memory with its welcome");
    return welcome;
  }
}

std::string AgentLink::receive(OwnFd& memory) {
  std::string text(kMessageMax, '\0');
  constexpr std::size_t kFdsMax = 4;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kFdsMax * sizeof(int))> control{};
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  auto received = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR) {
    received = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  }
  if (received <= 0) {
    throw SnapshotError(
        "outlast has ended before it gave this trainer its memory: look at what it says");
  }
  memory = first_fd(message);
  text.resize(static_cast<std::size_t>(received));
  return text;
}

void AgentLink::send(std::string_view message) {
  if (!is_alive()) return;
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  while (::send(socket_.get(), message.data(), message.size(), kFlags) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EMSGSIZE && errno != ENOBUFS) lose();
    return;
  }
}

bool AgentLink::look() {
  pollfd socket{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  if (is_alive() && ::poll(&socket, 1, 0) > 0 && socket.revents != 0) lose();
  return is_alive();
}

void AgentLink::lose() {
  if (!alive_.exchange(false)) return;
  say("outlast itself has ended: training goes on, but nothing is saved any more");
}

}  // namespace outlast::sdk
