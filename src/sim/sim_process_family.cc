#include "sim/sim_process_family.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/kernel.h"
#include "sim/sim_process.h"
#include "sys/process_family.h"

namespace outlast::sim {
namespace {

// Pids are not used again here, so the pid says it all.
std::uint64_t start_of(int pid) {
  return static_cast<std::uint64_t>(pid);
}

}  // namespace

Result<std::vector<sys::FamilyMember>> SimProcessFamilies::family(int pid,
                                                                  const std::string& folder) {
  if (!kernel_.step("family", fmt::format("of {}", pid))) return gone_error();
  std::string below = folder;
  while (below.size() > 1 && below.ends_with('/')) below.pop_back();
  const std::vector<SimProcessLauncher::Alive> alive = processes_.alive();
  std::vector<sys::FamilyMember> family;
  const auto add = [&](const SimProcessLauncher::Alive& process) {
    sys::FamilyMember member{
        .pid = process.pid, .parent = process.parent, .started = start_of(process.pid)};
    for (int number = 1; number <= 64; ++number) {
      const bool caught = std::find(process.handled.begin(), process.handled.end(), number) !=
                              process.handled.end() ||
                          own_signals_.hears(*process.domain, number);
      if (caught) member.caught |= std::uint64_t{1} << static_cast<unsigned>(number - 1);
    }
    if (!below.empty()) member.writes = files_.open_for_writing(*process.domain, below);
    family.push_back(std::move(member));
  };
  for (const auto& process : alive) {
    if (process.pid == pid) add(process);
  }
  // The list grows while it is walked: level by level.
  for (std::size_t i = 0; i < family.size(); ++i) {
    const int parent = family[i].pid;
    for (const auto& process : alive) {
      if (process.parent == parent) add(process);
    }
  }
  return family;
}

Result<void> SimProcessFamilies::signal(const sys::FamilyMember& member, int signal_number) {
  if (!kernel_.step("signal", fmt::format("{} to process {}", signal_number, member.pid))) {
    return gone_error();
  }
  if (member.started == start_of(member.pid)) processes_.deliver(member.pid, signal_number);
  return {};
}

}  // namespace outlast::sim
