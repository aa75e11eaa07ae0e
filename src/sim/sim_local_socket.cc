#include "sim/sim_local_socket.h"

#include <fmt/core.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sim/sim_process.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "sys/local_socket.h"
#include "sys/threads.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kQueueBytes = 208U << 10U;  // about as Linux has it
constexpr std::size_t kBytesEach = 768;           // that a message takes besides its text

}  // namespace

// Threads that wait for one thing.
class SimLocalSockets::Waiters {
 public:
  explicit Waiters(Kernel& kernel) : kernel_(kernel) {}
  // nullopt: look again. Throws Gone.
  std::optional<Error> wait(std::string_view what, const sys::CallContext& ctx) {
    Kernel::Task* const self = &kernel_.current();
    tasks_.push_back(self);
    const sys::Woken woken = kernel_.block(what, ctx);
    std::erase(tasks_, self);
    kernel_.throw_if_gone();
    if (woken == sys::Woken::kStopped) {
      return Error(ErrorCode::kCancelled, fmt::format("stopped while waiting for {}", what));
    }
    if (woken == sys::Woken::kDeadline) {
      return Error(ErrorCode::kDeadlineExceeded,
                   fmt::format("the deadline passed while waiting for {}", what));
    }
    return std::nullopt;
  }
  void wake() {
    for (Kernel::Task* task : tasks_) kernel_.wake(*task);
  }

 private:
  Kernel& kernel_;
  std::vector<Kernel::Task*> tasks_;
};

// One side of a connection, and what was sent to it.
struct SimLocalSockets::Side {
  Side(Kernel& kernel, const Domain& of, int number)
      : domain(&of), pid(number), something(kernel), room(kernel) {}
  const Domain* domain;
  const int pid;
  bool closed = false;
  std::deque<sys::LocalMessage> inbox;
  std::size_t inbox_bytes = 0;
  Waiters something;  // to receive, or the end
  Waiters room;       // in the inbox, or the end

  bool gone() const { return closed || domain->dead(); }
};

struct SimLocalSockets::Connection {
  Side connected;
  Side accepted;
};

class SimLocalSockets::Socket : public sys::LocalSocket {
 public:
  // `connection` is shared by its two ends, and by the listener until it is accepted.
  Socket(Kernel& kernel, std::shared_ptr<Connection> connection, bool accepted)
      : kernel_(kernel),
        connection_(std::move(connection)),
        mine_(accepted ? connection_->accepted : connection_->connected),
        theirs_(accepted ? connection_->connected : connection_->accepted) {}
  ~Socket() override {
    mine_.closed = true;
    mine_.inbox.clear();
    mine_.room.wake();
    theirs_.something.wake();
  }

  Result<void> send(const sys::LocalMessage& message, const sys::CallContext& ctx) override {
    OUTLAST_TRY(sys::check_local_message(message));
    if (!kernel_.step("socket.send", message.text)) return gone_error();
    const std::size_t bytes = kBytesEach + message.text.size();
    while (!theirs_.gone() && theirs_.inbox_bytes + bytes > kQueueBytes) {
      if (auto failed = theirs_.room.wait("room in a socket", ctx)) {
        if (!theirs_.gone() && theirs_.inbox_bytes + bytes > kQueueBytes) return *failed;
      }
    }
    if (theirs_.gone()) return other_side_gone();
    theirs_.inbox.push_back(message);
    theirs_.inbox_bytes += bytes;
    theirs_.something.wake();
    return {};
  }

  Result<sys::LocalMessage> receive(const sys::CallContext& ctx) override {
    if (!kernel_.step("socket.receive")) return gone_error();
    while (mine_.inbox.empty() && !theirs_.gone()) {
      if (auto failed = mine_.something.wait("a message at a socket", ctx)) {
        if (mine_.inbox.empty() && !theirs_.gone()) return *failed;
      }
    }
    if (mine_.inbox.empty()) return other_side_gone();
    sys::LocalMessage message = std::move(mine_.inbox.front());
    mine_.inbox.pop_front();
    mine_.inbox_bytes -= kBytesEach + message.text.size();
    mine_.room.wake();
    return message;
  }

  int peer_pid() const override { return theirs_.pid; }

 private:
  static Error other_side_gone() {
    return {ErrorCode::kUnavailable, "the process at the other end of a socket has gone"};
  }

  Kernel& kernel_;
  const std::shared_ptr<Connection> connection_;
  Side& mine_;
  Side& theirs_;
};

class SimLocalSockets::Listener : public sys::LocalListener {
 public:
  Listener(SimLocalSockets& owner, std::string path)
      : owner_(owner),
        path_(std::move(path)),
        home_(owner.kernel_.current_domain()),
        somebody_(owner.kernel_) {
    owner_.listeners_.insert_or_assign(path_, this);
  }
  ~Listener() override {
    const auto found = owner_.listeners_.find(path_);
    if (found != owner_.listeners_.end() && found->second == this) owner_.listeners_.erase(found);
    for (auto& connection : pending_) Socket(owner_.kernel_, std::move(connection), true);
  }

  const Domain& home() const { return home_; }
  void take(std::shared_ptr<Connection> connection) {
    pending_.push_back(std::move(connection));
    somebody_.wake();
  }

  Result<std::unique_ptr<sys::LocalSocket>> accept(const sys::CallContext& ctx) override {
    if (!owner_.kernel_.step("socket.accept", path_)) return gone_error();
    while (pending_.empty()) {
      if (auto failed = somebody_.wait("a connection", ctx); failed && pending_.empty()) {
        return *failed;
      }
    }
    auto connection = std::move(pending_.front());
    pending_.pop_front();
    return std::make_unique<Socket>(owner_.kernel_, std::move(connection), true);
  }

 private:
  SimLocalSockets& owner_;
  const std::string path_;
  const Domain& home_;
  Waiters somebody_;
  std::deque<std::shared_ptr<Connection>> pending_;  // shared with those who connected
};

Result<std::unique_ptr<sys::LocalListener>> SimLocalSockets::listen(const std::string& path) {
  OUTLAST_TRY(sys::check_local_path(path));
  if (!kernel_.step("socket.listen", path)) return gone_error();
  if (disk_.stat(path)) {
    return Error(ErrorCode::kAlreadyExists,
                 fmt::format("listen at {}: there is something else that is no socket", path));
  }
  const std::string folder = path.substr(0, path.rfind('/'));
  if (const auto info = disk_.stat(folder.empty() ? "/" : folder);
      !info || info->type == sys::FileType::kFile) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("listen at {}: No such file or directory", path));
  }
  return std::make_unique<Listener>(*this, path);
}

Result<std::unique_ptr<sys::LocalSocket>> SimLocalSockets::connect(const std::string& path,
                                                                   const sys::CallContext&) {
  OUTLAST_TRY(sys::check_local_path(path));
  if (!kernel_.step("socket.connect", path)) return gone_error();
  const auto found = listeners_.find(path);
  if (found == listeners_.end() || found->second->home().dead()) {
    return Error(ErrorCode::kUnavailable, fmt::format("connect to {}: nobody listens there", path));
  }
  const Domain& here = kernel_.current_domain();
  const Domain& there = found->second->home();
  auto connection = std::make_shared<Connection>(
      Connection{.connected = Side(kernel_, here, processes_.pid_of(here)),
                 .accepted = Side(kernel_, there, processes_.pid_of(there))});
  found->second->take(connection);
  return std::make_unique<Socket>(kernel_, std::move(connection), false);
}

}  // namespace outlast::sim
