#include "sys/posix_end_family.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>

namespace outlast::sys {
namespace {

// Everything here is written out by hand: a function of the C library might not have been called
// yet, and looking it up needs memory that the keeper has given back.
struct SeenProcess {
  int pid;
  int parent;
  unsigned long started;  // together with the pid: which process
  char state;
  bool in_family;
};
constexpr std::size_t kSeenMax = 1U << 16U;
constexpr int kRoundsMax = 50;

struct SeenProcesses {
  SeenProcess* all;  // sorted by pid, as /proc lists them
  std::size_t count;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number at `at`, which is moved behind it; it may have a sign, which is dropped.
unsigned long take_number(const char*& at, const char* end) {
  unsigned long value = 0;
  if (at < end && *at == '-') ++at;
  for (; at < end && is_digit(*at); ++at) value = value * 10 + static_cast<unsigned>(*at - '0');
  return value;
}
int take_pid(const char*& at, const char* end) {
  return static_cast<int>(take_number(at, end));
}

// Reads "/proc/<name>/stat": "12 (any) name) S <parent> <group> …", where the time of its start is
// the 22nd.
bool look_at(int proc, const char* name, int group, int self, SeenProcess& seen) {
  char path[32];  // NOLINT(modernize-avoid-c-arrays): as everywhere here, no calls
  std::size_t length = 0;
  for (; is_digit(name[length]) && length < 16; ++length) path[length] = name[length];
  if (length == 0) return false;
  const char* digits = name;
  seen.pid = take_pid(digits, name + length);
  const char suffix[] = "/stat";  // NOLINT(modernize-avoid-c-arrays)
  for (std::size_t i = 0; i < sizeof suffix; ++i) path[length + i] = suffix[i];

  const long file = ::syscall(SYS_openat, proc, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[512];  // NOLINT(modernize-avoid-c-arrays)
  const long size = ::syscall(SYS_read, file, text, sizeof text);
  ::syscall(SYS_close, file);
  const char* const end = text + (size > 0 ? size : 0);
  const char* at = end;
  while (at > text && at[-1] != ')') --at;
  if (end - at < 6) return false;
  seen.state = at[1];
  at += 3;
  seen.parent = take_pid(at, end);
  ++at;
  const int its_group = take_pid(at, end);
  seen.in_family = (its_group == group || seen.pid == group) && seen.pid != self;
  for (int field = 5; field < 22 && at < end; ++at) field += *at == ' ' ? 1 : 0;
  seen.started = take_number(at, end);
  return true;
}

void look_at_all(SeenProcesses& seen, int group) {
  seen.count = 0;
  const int self = static_cast<int>(::syscall(SYS_getpid));
  const long proc = ::syscall(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return;
  alignas(8) char buffer[4096];  // NOLINT(modernize-avoid-c-arrays)
  while (true) {
    const long size = ::syscall(SYS_getdents64, proc, buffer, sizeof buffer);
    if (size <= 0) break;
    // Each entry: inode and offset (8 bytes each), its length (2), its type (1), its name.
    for (long at = 0; at < size;) {
      const char* const entry = buffer + at;
      at += static_cast<unsigned char>(entry[16]) + static_cast<unsigned char>(entry[17]) * 256;
      if (seen.count < kSeenMax &&
          look_at(static_cast<int>(proc), entry + 19, group, self, seen.all[seen.count])) {
        ++seen.count;
      }
    }
  }
  ::syscall(SYS_close, proc);
}

const SeenProcess* find_process(const SeenProcesses& seen, int pid) {
  std::size_t low = 0;
  std::size_t high = seen.count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (seen.all[middle].pid == pid) return &seen.all[middle];
    if (seen.all[middle].pid < pid) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

// Who was found before is still meant, even if his parent has ended since.
void mark_known(SeenProcesses& seen, const SeenProcesses& before) {
  for (std::size_t i = 0; i < seen.count; ++i) {
    const SeenProcess* const known = find_process(before, seen.all[i].pid);
    if (known != nullptr && known->in_family && known->started == seen.all[i].started) {
      seen.all[i].in_family = true;
    }
  }
}

void mark_descendants(SeenProcesses& seen) {
  for (bool more = true; more;) {  // once is enough unless numbers have wrapped around
    more = false;
    for (std::size_t i = 0; i < seen.count; ++i) {
      if (seen.all[i].in_family) continue;
      const SeenProcess* const parent = find_process(seen, seen.all[i].parent);
      if (parent == nullptr || !parent->in_family) continue;
      seen.all[i].in_family = true;
      more = true;
    }
  }
}

// Whether it can still do something, and so has to be stopped.
bool is_active(const SeenProcess& process) {
  return process.state != 'T' && process.state != 'Z' && process.state != 'X';
}

}  // namespace

void end_family(int group) {
  const std::size_t bytes = kSeenMax * sizeof(SeenProcess);
  const long memory = ::syscall(SYS_mmap, nullptr, 2 * bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == -1) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel told us the number
  SeenProcesses seen{.all = reinterpret_cast<SeenProcess*>(memory), .count = 0};
  SeenProcesses before{.all = seen.all + kSeenMax, .count = 0};
  for (int round = 0; round < kRoundsMax; ++round) {
    const SeenProcesses last = seen;
    seen = before;
    before = last;
    look_at_all(seen, group);
    mark_known(seen, before);
    mark_descendants(seen);
    bool active = false;
    for (std::size_t i = 0; i < seen.count; ++i) {
      if (!seen.all[i].in_family || !is_active(seen.all[i])) continue;
      active = true;
      ::syscall(SYS_kill, seen.all[i].pid, SIGSTOP);
    }
    if (!active) break;
    const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};  // for them to come to a stop
    ::syscall(SYS_nanosleep, &moment, nullptr);
  }
  for (std::size_t i = 0; i < seen.count; ++i) {
    if (seen.all[i].in_family) ::syscall(SYS_kill, seen.all[i].pid, SIGKILL);
  }
}

}  // namespace outlast::sys
