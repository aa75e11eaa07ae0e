#include "trainers/free_processors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/result.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kTextBytesMax = 1U << 16U;

// "150000 100000": one and a half; "max 100000": no limit.
std::optional<double> quota_in(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = parse_number<std::uint64_t>(text.substr(0, blank));
  const auto period = parse_number<std::uint64_t>(text.substr(blank + 1));
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::string text_of(sys::FileSystem& files, const std::string& path) {
  return sys::read_file(files, path, kTextBytesMax).value_or("");
}

}  // namespace

unsigned free_processors(const Processors& processors) {
  double free = processors.allowed;
  if (const std::optional<double> quota = quota_in(processors.quota)) {
    free = std::min(free, *quota);
  }
  const std::string_view minute = processors.average.substr(0, processors.average.find(' '));
  free -= std::round(parse_decimal(minute).value_or(0));
  return static_cast<unsigned>(std::clamp(free, 1.0, 1024.0));
}

unsigned free_processors(sys::World& world) {
  const std::string quota = text_of(world.files, "/sys/fs/cgroup/cpu.max");
  const std::string average = text_of(world.files, "/proc/loadavg");
  return free_processors({.allowed = static_cast<unsigned>(world.environment.processor_count()),
                          .quota = quota,
                          .average = average});
}

}  // namespace outlast::trainers
