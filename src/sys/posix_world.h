#pragma once

#include <memory>

#include "base/random.h"
#include "sys/world.h"

namespace outlast::sys {

// The real world, complete: made once, in main().
class RealWorld {
 public:
  RealWorld();
  ~RealWorld();
  World& world() { return world_; }

 private:
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<FileWatches> file_watches_;
  std::unique_ptr<ProcessLauncher> processes_;
  std::unique_ptr<ProcessFamilies> process_families_;
  std::unique_ptr<OwnSignals> own_signals_;
  std::unique_ptr<Environment> environment_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<HttpServers> http_servers_;
  std::unique_ptr<LocalSockets> local_sockets_;
  std::unique_ptr<SharedMemories> shared_memories_;
  Random random_;
  World world_;
};

}  // namespace outlast::sys
