#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/shared_memory.h"

// Connections between processes of one machine.
namespace outlast::sys {

// The longest text of a message, and the longest path of a socket.
inline constexpr std::size_t kLocalMessageMax = 64U << 10U;
inline constexpr std::size_t kLocalPathMax = 107;

struct LocalMessage {
  std::string text = {};
  std::shared_ptr<SharedMemory> memory = {};  // goes with it: the other side maps the same
};

// One end of a connection. A message arrives whole, in its order, or not at all. One thread may
// send while another receives.
class LocalSocket {
 public:
  virtual ~LocalSocket() = default;
  // kInvalidArgument if the text is too long, or empty: that cannot be told from the end.
  // kUnavailable if the other side is gone. Waits while it does not read.
  virtual Result<void> send(const LocalMessage& message, const CallContext& ctx) = 0;
  // The next message. kUnavailable once the other side is gone, or has died, and all that it sent
  // was received. kCorrupt if what came with a message is no memory that can be mapped whole, or
  // if it is more than one message may be: the next call receives the one after it.
  virtual Result<LocalMessage> receive(const CallContext& ctx) = 0;
  // Of the process that connected, or that listened, as the machine knows it; 0 if it cannot see
  // it.
  virtual int peer_pid() const = 0;
};

// Takes connections, until it is destroyed. Belongs to one thread.
class LocalListener {
 public:
  virtual ~LocalListener() = default;
  virtual Result<std::unique_ptr<LocalSocket>> accept(const CallContext& ctx) = 0;
};

class LocalSockets {
 public:
  virtual ~LocalSockets() = default;
  // At a path that only this user can connect to; what an earlier process left there is replaced.
  // kAlreadyExists if that is no socket, kNotFound if there is no such folder, kInvalidArgument if
  // the path is empty or too long. The name is gone with the listener. Thread-safe.
  virtual Result<std::unique_ptr<LocalListener>> listen(const std::string& path) = 0;
  // kUnavailable if nobody listens there. What is sent is received once the other side accepts; if
  // it never does, that is its end. Thread-safe.
  virtual Result<std::unique_ptr<LocalSocket>> connect(const std::string& path,
                                                       const CallContext& ctx) = 0;
};

// For those who implement this: kInvalidArgument, with a sentence, for what no socket takes.
Result<void> check_local_message(const LocalMessage& message);
Result<void> check_local_path(const std::string& path);

}  // namespace outlast::sys
