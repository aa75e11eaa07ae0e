#include "sdk/arena_map.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "sdk/arena.h"
#include "sdk/own_fd.h"
#include "sdk/say.h"
#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

#ifdef MADV_POPULATE_WRITE
constexpr int kPopulateWrite = MADV_POPULATE_WRITE;
#else
constexpr int kPopulateWrite =
    23;  // since Linux 5.14; what was compiled on an older one runs there
#endif

// For kernels that cannot be asked: every page is written with what it holds.
void touch_pages(std::span<std::byte> part) {
  for (std::size_t at = 0; at < part.size(); at += kArenaPage) {
    const std::atomic_ref byte(part[at]);
    std::byte held = byte.load(std::memory_order_relaxed);
    // Fails if another one has changed it meanwhile, who then has the page as well.
    byte.compare_exchange_strong(held, held, std::memory_order_relaxed);
  }
}

// An errno, or 0.
int take_part(std::span<std::byte> part) {
  if (part.empty()) return 0;
  while (::madvise(part.data(), part.size(), kPopulateWrite) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != EINVAL) return errno;
    touch_pages(part);
    return 0;
  }
  return 0;
}

[[noreturn]] void refuse(const std::string& what) {
  throw SnapshotError("outlast's memory for snapshots " + what +
                      ": use the same version of outlast and of this library");
}

std::size_t checked_bytes(const OwnFd& memory, const ArenaForm& form) {
  if (form.slots == 0 || form.slots > kSlotsMax || form.slot_bytes == 0 ||
      form.slot_bytes % kArenaPage != 0 ||
      form.slot_bytes > std::numeric_limits<std::uint64_t>::max() / 4) {
    refuse("is said to have " + std::to_string(form.slots) + " slots of " +
           std::to_string(form.slot_bytes) + " bytes, which cannot be");
  }
  const std::uint64_t bytes = arena_bytes(form.slots, form.slot_bytes);
  struct stat found{};
  if (::fstat(memory.get(), &found) != 0 || !S_ISREG(found.st_mode)) refuse("is no memory");
  // Beyond its end a store would kill us.
  if (static_cast<std::uint64_t>(found.st_size) < bytes) {
    refuse("has " + std::to_string(found.st_size) + " bytes, and " + std::to_string(bytes) +
           " were promised");
  }
  return bytes;
}

}  // namespace

void take_pages(std::span<std::byte> memory, unsigned threads) {
  const std::size_t pages = memory.size() / kArenaPage;
  const std::size_t shares = std::max(threads, 1U);
  std::atomic<int> failure = 0;
  const auto take = [&](std::size_t share) {
    const std::size_t begin = pages * share / shares * kArenaPage;
    const std::size_t end = pages * (share + 1) / shares * kArenaPage;
    if (const int error = take_part(memory.subspan(begin, end - begin)); error != 0) {
      failure = error;
    }
  };
  std::vector<std::thread> others;
  std::size_t share = 1;
  for (; share < shares; ++share) {
    try {
      others.emplace_back(take, share);
    } catch (const std::system_error&) {
      break;
    }
  }
  take(0);
  for (; share < shares; ++share) take(share);
  for (std::thread& thread : others) thread.join();
  if (failure == 0) return;
  throw SnapshotError("the machine does not give " + std::to_string(memory.size()) +
                      " bytes of memory for snapshots: " + error_text(failure) +
                      "; make the state smaller, or give the job more memory");
}

ArenaMap::ArenaMap(const OwnFd& memory, const ArenaForm& form, std::uint64_t needed,
                   unsigned threads)
    : form_(form), bytes_(checked_bytes(memory, form)) {
  void* const mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) {
    throw SnapshotError("cannot map outlast's memory for snapshots: " + error_text(errno));
  }
  base_ = static_cast<std::byte*>(mapped);
  try {
    check_words();
    // Both are wishes: without the first it is slower, without the second a child could write.
    ::madvise(base_, bytes_, MADV_HUGEPAGE);
    ::madvise(base_, bytes_, MADV_DONTFORK);
    const std::uint64_t used =
        std::min(form.slot_bytes, (needed + kArenaPage - 1) / kArenaPage * kArenaPage);
    for (std::uint64_t number = 0; number < form.slots; ++number) {
      take_pages({slot(number), used}, threads);
    }
  } catch (...) {
    ::munmap(base_, bytes_);
    throw;
  }
}

ArenaMap::~ArenaMap() {
  ::munmap(base_, bytes_);
}

void ArenaMap::check_words() const {
  const ArenaWords found = words();
  if (found.load(kMagic) != kArenaMagic) refuse("is no arena");
  if (found.load(kVersion) != kArenaVersion) {
    refuse("is an arena of version " + std::to_string(found.load(kVersion)) + ", and this is " +
           std::to_string(kArenaVersion));
  }
  if (found.load(kSlotCount) != form_.slots || found.load(kSlotBytes) != form_.slot_bytes) {
    refuse("has other slots than were promised");
  }
}

}  // namespace outlast::sdk
