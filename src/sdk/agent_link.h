#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sdk/arena_map.h"
#include "sdk/own_fd.h"
#include "sdk/own_rank.h"

namespace outlast::sdk {

inline constexpr std::uint64_t kProtocol = 1;
inline constexpr std::size_t kMessageMax = 64U << 10U;
inline constexpr int kDefaultLeaveCode = 75;

// Where the agent listens, as it has said in the environment; empty if there is none.
std::string agent_socket();

struct Welcome {
  ArenaForm form = {};
  int leave_code = kDefaultLeaveCode;
  std::string note = {};
  OwnFd memory = {};
};

// The connection to the agent. Once it has ended it stays so, and a line on stderr has said it,
// once. Belongs to one thread, but for send(), is_alive() and look(), which are thread-safe.
class AgentLink {
 public:
  // Whether there is something that one could connect to.
  static bool is_socket(const std::string& path);
  // nullptr if nobody listens there.
  static std::unique_ptr<AgentLink> connect(const std::string& path);

  // Introduces this process, with what a snapshot needs at most; waits for the answer, which may
  // take as long as restoring a checkpoint does. Throws SnapshotError with the agent's own words if
  // it refuses, and if it is no agent that we understand.
  Welcome hello(const OwnRank& own, std::uint64_t bytes);

  // Never waits: what finds no room is lost.
  void send(std::string_view message);
  bool is_alive() const { return alive_.load(std::memory_order_relaxed); }
  // Looks whether the other side is still there, which is otherwise seen at the next send().
  bool look();

 private:
  explicit AgentLink(OwnFd socket);
  std::string receive(OwnFd& memory);
  void lose();

  OwnFd socket_;
  std::atomic<bool> alive_ = true;
};

}  // namespace outlast::sdk
