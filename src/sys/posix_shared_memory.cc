#include "sys/posix_shared_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/posix_fd.h"
#include "sys/posix_memory_limits.h"
#include "sys/shared_memory.h"

namespace outlast::sys {
namespace {

// The last one, so that no later owner can take the memory away from us by sealing it further.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string words_of(int error_number) {
  return std::generic_category().message(error_number);
}

// nullptr if it cannot be mapped, with errno.
std::shared_ptr<SharedMemory> map_whole(Fd fd, std::size_t size) {
  void* const start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (start == MAP_FAILED) return nullptr;
  (void)::madvise(start, size, MADV_HUGEPAGE);  // a wish: it is as good without, only slower
  return std::make_shared<PosixSharedMemory>(std::move(fd),
                                             std::span(static_cast<std::byte*>(start), size));
}

class PosixSharedMemories : public SharedMemories {
 public:
  Result<std::shared_ptr<SharedMemory>> make(std::uint64_t size) override {
    if (size == 0) return Error(ErrorCode::kInvalidArgument, "shared memory of 0 bytes is none");
    const auto refused = [size](int error_number) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("get {} bytes of shared memory: {}", size, words_of(error_number)));
    };
    if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
      return refused(ENOMEM);
    }
    Fd fd(::memfd_create("outlast", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
        ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
      return refused(errno);
    }
    auto memory = map_whole(std::move(fd), size);
    if (!memory) return refused(errno);
    return memory;
  }

  std::optional<std::uint64_t> available() override { return available_memory({}); }
};

}  // namespace

PosixSharedMemory::~PosixSharedMemory() {
  ::munmap(mapped_.data(), mapped_.size());
}

Result<std::shared_ptr<SharedMemory>> map_shared_memory(Fd fd) {
  // Only memory has seals: this refuses every other kind of file, too.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error(ErrorCode::kCorrupt,
                 "what came is no memory that is sealed against getting shorter");
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || info.st_size <= 0) {
    return Error(ErrorCode::kCorrupt, "the memory that came has no bytes");
  }
  auto memory = map_whole(std::move(fd), static_cast<std::size_t>(info.st_size));
  if (!memory) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the memory that came cannot be mapped: {}", words_of(errno)));
  }
  return memory;
}

std::unique_ptr<SharedMemories> make_posix_shared_memories() {
  return std::make_unique<PosixSharedMemories>();
}

}  // namespace outlast::sys
