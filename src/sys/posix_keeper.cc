#include "sys/posix_keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/posix_end_family.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_fork.h"

namespace outlast::sys {
namespace {

// --- Giving back memory. The keeper shares every page with us until one of us writes to it: pages
// that we change or free later would be kept in memory for it alone. It needs none of them. ---

constexpr std::uintptr_t kWorthwhile = 1U << 20U;
constexpr std::uintptr_t kAround = 256U << 10U;  // far more than the keeper's stack or its TLS

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// The large pieces of memory, without what lies around two addresses. Of fixed size: nothing may be
// allocated.
class LargePieces {
 public:
  LargePieces(std::uintptr_t one, std::uintptr_t other)
      : low_(std::min(one, other)), high_(std::max(one, other)) {}

  void add(AddressRange range) {
    add_piece({range.begin, std::min(range.end, below(low_))});
    add_piece({std::max(range.begin, above(low_)), std::min(range.end, below(high_))});
    add_piece({std::max(range.begin, above(high_)), range.end});
  }
  // Nothing but system calls: the C library might look up a function in what is gone already.
  void give_back() const {
    for (std::size_t i = 0; i < count_; ++i) {
      ::syscall(SYS_madvise, pieces_[i].begin, pieces_[i].end - pieces_[i].begin, MADV_DONTNEED);
    }
  }

 private:
  static std::uintptr_t below(std::uintptr_t address) {
    return (address - kAround) & ~(kAround - 1);
  }
  static std::uintptr_t above(std::uintptr_t address) {
    return (address + 2 * kAround) & ~(kAround - 1);
  }
  void add_piece(AddressRange piece) {
    if (piece.begin >= piece.end || piece.end - piece.begin < kWorthwhile) return;
    if (count_ < kMost) pieces_[count_++] = piece;
  }

  static constexpr std::size_t kMost = 512;
  const std::uintptr_t low_;
  const std::uintptr_t high_;
  AddressRange pieces_[kMost];  // NOLINT(modernize-avoid-c-arrays): no call to reach an element
  std::size_t count_ = 0;
};

std::uintptr_t take_hex(std::string_view& text) {
  std::uintptr_t value = 0;
  while (!text.empty()) {
    const char c = text.front();
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) break;
    value = value * 16 + static_cast<std::uintptr_t>(digit ? c - '0' : c - 'a' + 10);
    text.remove_prefix(1);
  }
  return value;
}

// A line of /proc/self/maps: "7f0000000000-7f0000021000 rw-p 00000000 00:00 0    [heap]".
void add_line(std::string_view line, LargePieces& pieces) {
  AddressRange range;
  range.begin = take_hex(line);
  if (!line.starts_with('-')) return;
  line.remove_prefix(1);
  range.end = take_hex(line);
  const bool private_memory =
      line.starts_with(" rw-p ") && line.find(" 00:00 0") != std::string_view::npos;
  if (private_memory && line.find("[stack") == std::string_view::npos) pieces.add(range);
}

// The sanitizers need their own memory, to the end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

void give_back_memory() {
  if (kIsSanitized) return;
  std::array<char, 4096> buffer;  // NOLINT: filled by read
  std::array<char, 128> line;     // NOLINT: filled below
  LargePieces pieces(reinterpret_cast<std::uintptr_t>(buffer.data()),
                     reinterpret_cast<std::uintptr_t>(&errno));  // the stack, and the thread's own
  {
    const Fd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    std::size_t length = 0;
    while (true) {
      const ssize_t n = ::read(maps.get(), buffer.data(), buffer.size());
      if (n <= 0) break;
      for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(n))) {
        if (c != '\n') {
          if (length < line.size()) line[length++] = c;
          continue;
        }
        add_line({line.data(), length}, pieces);
        length = 0;
      }
    }
  }
  pieces.give_back();
}

// --- The keeper's whole life. ---

// A process closes its files before it has quite ended. When it has, the kernel sends SIGHUP to a
// group that loses its last link to its session and in which somebody is stopped: to stop the
// family before that would lose track of the children of those who die of it. Not for ever: it may
// hang in closing other files.
void wait_for_end_of(int parent) {
  for (int i = 0; i < 1000 && ::syscall(SYS_getppid) == parent; ++i) {
    const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::syscall(SYS_nanosleep, &moment, nullptr);
  }
}

[[noreturn]] void keep(int parent, int group, int their_life) {
  ::setpgid(0, group);  // the parent does the same: whoever is first
  close_all_but(their_life, 0);
  [[maybe_unused]] const int moved = ::chdir("/");  // no folder of ours stays in use
  ::prctl(PR_SET_NAME, "outlast-keeper");
  const bool in_place = ::getpgrp() == group;
  give_back_memory();
  char byte = 0;
  long n = -1;
  while (in_place && n < 0) {
    n = ::syscall(SYS_read, their_life, &byte, sizeof byte);
    if (n < 0 && errno != EINTR) break;
  }
  if (n == 0) {
    wait_for_end_of(parent);
    end_family(group);
    ::syscall(SYS_kill, 0, SIGKILL);  // the group, should anybody be left, and ourselves with it
  }
  while (true) ::syscall(SYS_exit_group, 0);
}

}  // namespace

Keeper::Keeper(Keeper&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), our_life_(std::move(other.our_life_)) {}

Keeper& Keeper::operator=(Keeper&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(our_life_, other.our_life_);
  return *this;
}

Keeper::~Keeper() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);  // a child that has not been reaped: nobody else has its number
  reap_child(pid_);
}

Result<Keeper> Keeper::start(int group) {
  OUTLAST_TRY_ASSIGN(Pipe life, make_pipe());
  const int us = ::getpid();
  const SignalsBlocked blocked;
  const int pid = ::fork();
  if (pid < 0) return posix_error(errno, "start a keeper");
  if (pid == 0) keep(us, group, life.read.get());
  Keeper keeper;
  keeper.pid_ = pid;
  keeper.our_life_ = std::move(life.write);
  if (::setpgid(pid, group) != 0) return posix_error(errno, "put a keeper into its group");
  return keeper;
}

}  // namespace outlast::sys
