#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"
#include "sys/posix_fd.h"
#include "sys/shared_memory.h"

namespace outlast::sys {

// A memfd that nobody can make shorter: reading what is gone would kill us (SIGBUS).
class PosixSharedMemory : public SharedMemory {
 public:
  PosixSharedMemory(Fd fd, std::span<std::byte> mapped) : fd_(std::move(fd)), mapped_(mapped) {}
  ~PosixSharedMemory() override;
  PosixSharedMemory(const PosixSharedMemory&) = delete;
  PosixSharedMemory& operator=(const PosixSharedMemory&) = delete;
  std::span<std::byte> bytes() override { return mapped_; }
  // To be handed to another process. Stays ours.
  int fd() const { return fd_.get(); }

 private:
  const Fd fd_;
  const std::span<std::byte> mapped_;
};

// What another process handed over. kCorrupt unless it is memory that never gets shorter and that
// can be written to.
Result<std::shared_ptr<SharedMemory>> map_shared_memory(Fd fd);

std::unique_ptr<SharedMemories> make_posix_shared_memories();

}  // namespace outlast::sys
