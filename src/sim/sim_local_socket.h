#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sim/sim_process.h"
#include "sys/call_context.h"
#include "sys/local_socket.h"

namespace outlast::sim {

// Connections between the programs of one machine. Who is killed is gone for the other side once
// its threads have unwound, or when that one looks, if it does so before. No file can be seen at
// the path of a listener.
class SimLocalSockets : public sys::LocalSockets {
 public:
  SimLocalSockets(Kernel& kernel, const SimProcessLauncher& processes, const Disk& disk)
      : kernel_(kernel), processes_(processes), disk_(disk) {}
  Result<std::unique_ptr<sys::LocalListener>> listen(const std::string& path) override;
  Result<std::unique_ptr<sys::LocalSocket>> connect(const std::string& path,
                                                    const sys::CallContext& ctx) override;

 private:
  class Waiters;
  struct Side;
  struct Connection;
  class Socket;
  class Listener;
  Kernel& kernel_;
  const SimProcessLauncher& processes_;
  const Disk& disk_;
  std::map<std::string, Listener*> listeners_;  // by path: the last one that listened there
};

}  // namespace outlast::sim
