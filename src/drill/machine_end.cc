#include "drill/machine_end.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/life_record.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/world.h"
#include "trainer_files/completeness.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layouts.h"
#include "trainer_files/name_pattern.h"
#include "trainer_files/tree_listing.h"

namespace outlast::drill {
namespace {

constexpr int kStopRoundsMax = 20;
constexpr std::string_view kOurLog = "outlast.log";  // ours, beside the trainer's files

// Whether it is, or becomes, a checkpoint by its name.
bool may_be_checkpoint(const std::string& path, const TrainerPlace& place) {
  const std::string name(sys::base_name(path));
  if (name == kOurLog || trainer_files::is_growing_log(path)) return false;
  if (place.recognise == trainer_files::Recognise::kEverything) return true;
  if (trainer_files::is_temporary_name(name)) return true;
  const trainer_files::TreeListing listing("", {{.path = name}});
  return !trainer_files::recognise_sets(listing).empty();
}

bool is_ours(std::string_view path) {
  return path.find("/.outlast-run/") != std::string_view::npos;
}

double run_seconds(WallTime when, WallTime run_began) {
  return std::chrono::duration<double>(when - run_began).count();
}

}  // namespace

Result<std::vector<std::string>> files_being_written(sys::World& world, const sys::Process& agent,
                                                     const TrainerPlace& place) {
  OUTLAST_TRY_ASSIGN(const std::vector<sys::FamilyMember> family,
                     world.process_families.family(agent.pid(), place.folder));
  std::vector<std::string> open;
  for (const sys::FamilyMember& member : family) {
    if (member.pid == agent.pid()) continue;
    for (const std::string& path : member.writes) {
      if (!is_ours(path) && may_be_checkpoint(path, place)) open.push_back(path);
    }
  }
  return open;
}

bool ignores_sigterm(sys::World& world, const sys::Process& agent) {
  const Result<std::vector<sys::FamilyMember>> family =
      world.process_families.family(agent.pid(), "");
  return family && std::ranges::any_of(*family, [&](const sys::FamilyMember& member) {
           return member.pid != agent.pid() && member.ignores(SIGTERM);
         });
}

Result<void> end_machine(sys::World& world, sys::Process& agent) {
  std::vector<sys::FamilyMember> stopped;
  std::set<std::pair<int, std::uint64_t>> known;
  for (int round = 0; round < kStopRoundsMax; ++round) {
    Result<std::vector<sys::FamilyMember>> family = world.process_families.family(agent.pid(), "");
    if (!family) break;
    bool is_new = false;
    for (sys::FamilyMember& member : *family) {
      if (!known.emplace(member.pid, member.started).second) continue;
      is_new = true;
      (void)world.process_families.signal(member, SIGSTOP);
      stopped.push_back(std::move(member));
    }
    if (!is_new) break;
  }
  // The agent first: nothing of it may come after its trainer's end.
  OUTLAST_TRY(agent.signal(SIGKILL));
  for (const sys::FamilyMember& member : stopped) {
    (void)world.process_families.signal(member, SIGKILL);
  }
  OUTLAST_TRY(agent.wait({}));
  return {};
}

Result<void> look_at_remains(sys::World& world, const TrainerPlace& place,
                             const std::vector<std::string>& open, WallTime run_began,
                             LifeRecord& record) {
  OUTLAST_TRY_ASSIGN(const trainer_files::TreeListing listing,
                     trainer_files::list_tree(world.files, place.folder, {}, {}));
  trainer_files::FileLooks looks(world.files);
  looks.start_round(world.clock.mono_now());
  std::set<std::string> named;
  for (trainer_files::FoundSet& found : trainer_files::recognise_sets(listing, place.recognise)) {
    const trainer_files::FoundSet set = trainer_files::judge_set(std::move(found), listing, looks);
    for (const std::string& path : set.paths) named.insert(listing.full_path(path));
    if (run_seconds(set.newest, run_began) < record.life.began) continue;  // of an earlier machine
    bool is_torn = false;
    for (const std::string& path : set.paths) {
      const trainer_files::ListedEntry* const entry = listing.find(path);
      if (entry == nullptr || entry->type != sys::FileType::kFile) continue;
      const trainer_files::Completeness look = looks.completeness(listing, *entry);
      if (look.wholeness != trainer_files::Wholeness::kTorn) continue;
      is_torn = true;
      record.torn.push_back(fmt::format("{}, which {}", path, look.why));
    }
    if (!is_torn && set.state != trainer_files::SetState::kIncomplete) {
      record.newest_written =
          std::max(record.newest_written.value_or(0), run_seconds(set.newest, run_began));
    }
  }
  for (const std::string& path : open) {
    const std::string name(sys::base_name(path));
    if (named.contains(path) && !trainer_files::is_temporary_name(name)) {
      record.written_in_place.push_back(name);
    }
  }
  return {};
}

}  // namespace outlast::drill
