#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sim/sim_file_system.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"

namespace outlast::sim {

// Hears what is done through the machine's SimFileSystem, by the paths that were used: who reaches
// a watched folder through a symlink is not noticed. The folder is given as "/a/b".
class SimFileWatches : public sys::FileWatches, private SimFileSystem::Listener {
 public:
  SimFileWatches(Kernel& kernel, SimFileSystem& files, const Disk& disk)
      : kernel_(kernel), files_(files), disk_(disk) {}
  ~SimFileWatches() override { files_.set_listener(nullptr); }

  Result<std::unique_ptr<sys::FileWatch>> watch(
      const std::string& folder, std::function<bool(const std::string& path)> leave_out) override;

  // From now on nothing can be watched, as when all of a user's watches are used up; or again.
  void set_available(bool available) { available_ = available; }
  // Everybody who watches has missed something.
  void overflow();

 private:
  class Watch;
  void appeared(const std::string& path) override;
  void gone(const std::string& path, sys::FileType type) override;
  void closed(const std::string& path, Disk::Inode file) override;

  Kernel& kernel_;
  SimFileSystem& files_;
  const Disk& disk_;
  bool available_ = true;
  std::vector<Watch*> watches_;  // in the order in which they began
};

}  // namespace outlast::sim
