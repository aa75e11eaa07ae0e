#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/doctor.h"
#include "cli/program/text_layout.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint64_t kGiB = 1U << 30U;
constexpr std::uint64_t kMemoryLeast = 64 * kMiB;
constexpr std::uint64_t kDiskLeast = 100 * kMiB;
constexpr std::uint64_t kDiskComfortable = 10 * kGiB;
constexpr std::uint64_t kSharedMemoryComfortable = kGiB;
constexpr double kClockErrorSecondsMax = 1.0;
// A clock before this moment was never set: the program is younger.
constexpr std::string_view kProgramIsYounger = "2026-01-01T00:00:00Z";

// Small files of the kernel; "" if it is not there.
std::string kernel_text(sys::World& world, const std::string& path) {
  return sys::read_file(world.files, path, 64U << 10U).value_or("");
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// The rest of the line that begins with `key`, without spaces and quotes around it.
std::optional<std::string> line_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = first_line(text);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    while (!line.empty() && (line.front() == ' ' || line.front() == '"')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '"')) line.remove_suffix(1);
    return std::string(line);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> meminfo_bytes(std::string_view meminfo, std::string_view key) {
  const auto line = line_after(meminfo, key);
  const auto kib = line ? leading_number(*line) : std::nullopt;
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

// The lowest limit on the way from this process's group up to the root of `mount`.
std::optional<std::uint64_t> lowest_limit(sys::World& world, const std::string& mount,
                                          std::string group, const std::string& file) {
  std::optional<std::uint64_t> lowest;
  while (true) {
    const std::string path = fmt::format("{}{}/{}", mount, group == "/" ? "" : group, file);
    const auto limit = leading_number(kernel_text(world, path));  // "max" is no number
    if (limit && (!lowest || *limit < *lowest)) lowest = limit;
    if (group.empty() || group == "/") return lowest;
    group = sys::parent_path(group);
  }
}

// What the control groups of this process (version 2, or version 1) let it use.
std::optional<std::uint64_t> memory_limit(sys::World& world) {
  const std::string groups = kernel_text(world, "/proc/self/cgroup");
  if (const auto group = line_after(groups, "0::")) {
    if (auto limit = lowest_limit(world, "/sys/fs/cgroup", *group, "memory.max")) return limit;
  }
  const std::size_t memory = groups.find(":memory:");
  if (memory == std::string::npos) return std::nullopt;
  const std::string group(first_line(std::string_view(groups).substr(memory + 8)));
  return lowest_limit(world, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

// Of "always [madvise] never", the chosen word.
std::string chosen_word(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace

Finding check_system(sys::World& world) {
  const std::string release = kernel_text(world, "/etc/os-release");
  const std::string version = kernel_text(world, "/proc/version");
  const std::string name = line_after(release, "PRETTY_NAME=").value_or("an unnamed system");
  const std::string_view kernel = first_line(version);
  if (!kernel.starts_with("Linux version ")) {
    return {"system", Health::kWarning,
            fmt::format("{}; the kernel does not say what it is", printable(name)),
            "outlast is made for Linux, and reads /proc: mount it."};
  }
  const std::string_view number = kernel.substr(std::string_view("Linux version ").size());
  return {
      "system", Health::kOk,
      fmt::format("{}, Linux {}", printable(name), printable(number.substr(0, number.find(' ')))),
      ""};
}

Finding check_processors(sys::World& world) {
  const int count = world.environment.processor_count();
  return {"processors", Health::kOk, fmt::format("{} usable", count), ""};
}

Finding check_memory(sys::World& world) {
  const std::string meminfo = kernel_text(world, "/proc/meminfo");
  const auto total = meminfo_bytes(meminfo, "MemTotal:");
  const auto available = meminfo_bytes(meminfo, "MemAvailable:");
  if (!total || !available) {
    return {"memory", Health::kNote, "unknown: /proc/meminfo does not say", ""};
  }
  std::string finding =
      fmt::format("{} free of {}", format_bytes_short(*available), format_bytes_short(*total));
  const auto limit = memory_limit(world);
  if (limit && *limit < *total) {
    finding +=
        fmt::format("; a control group limits this process to {}", format_bytes_short(*limit));
  }
  if (std::min(*available, limit.value_or(*available)) < kMemoryLeast) {
    return {"memory", Health::kFailure, finding, "End other programs, or use a larger machine."};
  }
  return {"memory", Health::kOk, finding, ""};
}

Finding check_disk(sys::World& world) {
  const std::string folder = world.environment.working_dir();
  const Result<sys::DiskSpace> space = world.files.space(folder);
  if (!space) {
    return {
        "disk", Health::kWarning,
        fmt::format("the space in {} is unknown: {}", printable(folder), space.error().to_string()),
        "Work in a folder on a disk that can be used."};
  }
  const std::uint64_t available = space->available_bytes;
  const std::string finding =
      fmt::format("{} free of {} in {}", format_bytes_short(available),
                  format_bytes_short(space->total_bytes), printable(folder));
  const std::string advice = "Free some space, or work in a folder on a larger disk.";
  if (available < kDiskLeast) return {"disk", Health::kFailure, finding, advice};
  if (available < kDiskComfortable) {
    return {"disk", Health::kWarning, finding + ": little for training data and checkpoints",
            advice};
  }
  return {"disk", Health::kOk, finding, ""};
}

Finding check_shared_memory(sys::World& world) {
  const Result<sys::DiskSpace> space = world.files.space("/dev/shm");
  if (!space) return {"shared memory", Health::kNote, "there is no /dev/shm", ""};
  const std::string finding = fmt::format("{} in /dev/shm", format_bytes_short(space->total_bytes));
  if (space->total_bytes < kSharedMemoryComfortable) {
    return {"shared memory", Health::kNote,
            finding + "; trainers whose data loaders share memory may run out",
            "In a container: docker run --shm-size=2g."};
  }
  return {"shared memory", Health::kOk, finding, ""};
}

Finding check_huge_pages(sys::World& world) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  const std::string memory = chosen_word(kernel_text(world, folder + "enabled"));
  const std::string shared = chosen_word(kernel_text(world, folder + "shmem_enabled"));
  if (memory.empty()) {
    return {"huge pages", Health::kNote, "this kernel has no transparent huge pages", ""};
  }
  const std::string finding =
      fmt::format("{} for memory, {} for shared memory", memory, shared.empty() ? "none" : shared);
  if (memory == "never") {
    return {"huge pages", Health::kNote, finding + "; copying large memory takes longer without",
            fmt::format("As root: echo madvise > {}enabled", folder)};
  }
  return {"huge pages", Health::kOk, finding, ""};
}

Finding check_clock(sys::World& world) {
  const WallTime now = world.clock.wall_now();
  const auto error = world.environment.clock_error_seconds();
  const std::string advice = "Start a time service, such as chrony or systemd-timesyncd.";
  const Result<WallTime> program = parse_rfc3339(kProgramIsYounger);
  if (program && now < *program) {
    return {"clock", Health::kWarning, fmt::format("it is wrong: it says {}", format_rfc3339(now)),
            "Set it. " + advice};
  }
  if (!error) return {"clock", Health::kWarning, "nothing keeps it right", advice};
  const std::string finding = fmt::format("right within {:.3g} s", *error);
  if (*error > kClockErrorSecondsMax) return {"clock", Health::kWarning, finding, advice};
  return {"clock", Health::kOk, finding, ""};
}

}  // namespace outlast::cli
