#include "sys/posix_memory_limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace outlast::sys {
namespace {

// How a version of control groups names what we ask for.
struct GroupNames {
  std::string limit;
  std::string used;
  std::string reclaimable;  // in memory.stat
};
const GroupNames kVersion2{"memory.max", "memory.current", "inactive_file"};
const GroupNames kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

// The first word of a file as a number; nullopt also for "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number that follows `name` in a file of such lines.
std::optional<std::uint64_t> number_after(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t number = 0;
    if (words >> first >> number && first == name) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::optional<std::uint64_t> left_in(const std::string& folder, const GroupNames& names) {
  const auto limit = number_in(folder + "/" + names.limit);
  const auto used = number_in(folder + "/" + names.used);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t reclaimable =
      number_after(folder + "/memory.stat", names.reclaimable).value_or(0);
  const std::uint64_t taken = *used - std::min(*used, reclaimable);
  return *limit - std::min(*limit, taken);
}

// Each group is limited by those above it. In a container, the group may have the name that the
// machine outside knows it by, which is no folder here: then the topmost one is ours.
std::optional<std::uint64_t> left_in_all(const std::string& top, std::string group,
                                         const GroupNames& names) {
  std::optional<std::uint64_t> result;
  while (!group.empty()) {
    if (group != "/") result = least(result, left_in(top + group, names));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return least(result, left_in(top, names));
}

}  // namespace

std::optional<std::uint64_t> available_memory(const MemoryFiles& where) {
  std::optional<std::uint64_t> result;
  if (const auto kib = number_after(where.proc + "/meminfo", "MemAvailable:")) {
    result = *kib << 10U;
  }
  std::ifstream groups(where.proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,memory:/a/b", or "0::/a/b"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      result = least(result, left_in_all(where.control_groups, group, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      result = least(result, left_in_all(where.control_groups + "/memory", group, kVersion1));
    }
  }
  return result;
}

}  // namespace outlast::sys
