#include "drill/final_result.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"
#include "job/log_entry.h"
#include "store/directory_store.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

namespace outlast::drill {
namespace {

constexpr std::string_view kLifeLog = "outlast.log";  // says which machine it was on
constexpr std::uint64_t kOutputFileMax = std::uint64_t{4} << 30U;

// The same text for the same bytes: content is cut in the same places wherever it is.
std::string content_of(const checkpoint::Manifest& manifest, const checkpoint::Item& item) {
  std::string text = fmt::format("{} {}", checkpoint::to_string(item.kind), item.size);
  if (!item.target.empty()) text += " " + item.target;
  for (const std::uint32_t chunk : item.chunks) {
    text += " " + manifest.chunks[chunk].chunk.name.hex();
  }
  return text;
}

Result<void> add_output(sys::World& world, const std::string& folder, FinalResult& result,
                        const sys::CallContext& ctx) {
  if (!world.files.stat(folder)) return {};
  OUTLAST_TRY_ASSIGN(const trainer_files::TreeListing listing,
                     trainer_files::list_tree(world.files, folder, {}, ctx));
  for (const trainer_files::ListedEntry& entry : listing.entries()) {
    if (entry.type != sys::FileType::kFile) continue;
    OUTLAST_TRY_ASSIGN(const std::string text,
                       sys::read_file(world.files, listing.full_path(entry.path), kOutputFileMax));
    result.files["output/" + entry.path] = sha256(as_bytes(text)).hex();
  }
  return {};
}

// Which states, by layout and number, a listing has; and to which of them a path belongs.
struct States {
  std::map<std::string, std::pair<const trainer_files::Layout*, std::uint64_t>> of_path = {};
  std::map<const trainer_files::Layout*, std::set<std::uint64_t>> numbers = {};
};

States states_of(const trainer_files::TreeListing& listing, trainer_files::Recognise recognise) {
  States states;
  for (const trainer_files::FoundSet& set : trainer_files::recognise_sets(listing, recognise)) {
    const std::optional<std::uint64_t> number = set.facts.step ? set.facts.step : set.facts.epoch;
    if (!number) continue;
    states.numbers[set.layout].insert(*number);
    for (const std::string& path : set.paths) states.of_path[path] = {set.layout, *number};
  }
  return states;
}

bool is_earlier_state(const std::string& path, const States& own, const States& other) {
  const auto found = own.of_path.find(path);
  if (found == own.of_path.end()) return false;
  const auto& [layout, number] = found->second;
  const auto theirs = other.numbers.find(layout);
  return theirs != other.numbers.end() && !theirs->second.contains(number) &&
         *theirs->second.rbegin() > number &&
         own.numbers.at(layout).contains(*theirs->second.rbegin());
}

// Every value that a run printed, by step: what a later life printed counts.
std::map<std::uint64_t, const StepSample*> by_step(const std::vector<LifeRecord>& run,
                                                   const StepScale& scale) {
  std::map<std::uint64_t, const StepSample*> steps;
  for (const LifeRecord& life : run) {
    for (const NumberedSample& one : on_scale(life.samples, scale)) steps[one.step] = one.sample;
  }
  return steps;
}

std::set<std::string> metrics_that_differ(const StepSample& a, const StepSample& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a.metrics) {
    const auto other = b.metrics.find(name);
    if (other != b.metrics.end() && other->second != value) names.insert(name);
  }
  return names;
}

}  // namespace

Result<FinalResult> load_result(sys::World& world, const std::string& root, const std::string& job,
                                const sys::CallContext& ctx) {
  FinalResult result;
  store::DirectoryStore store(
      {.files = world.files, .clock = world.clock, .random = world.random.fork()}, root);
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<checkpoint::Checkpoints> checkpoints,
                     checkpoint::Checkpoints::open({.root = store,
                                                    .files = world.files,
                                                    .threads = world.threads,
                                                    .clock = world.clock,
                                                    .random = world.random},
                                                   job, ctx));
  OUTLAST_TRY_ASSIGN(const std::vector<job::LogEntry> entries, checkpoints->list(ctx));
  if (entries.empty()) {
    return Error(ErrorCode::kNotFound, fmt::format("job '{}' in {} has no checkpoint", job, root));
  }
  OUTLAST_TRY_ASSIGN(const checkpoint::LoadedCheckpoint loaded,
                     checkpoints->load(entries.back(), ctx));
  std::vector<trainer_files::ListedEntry> listed;
  for (const checkpoint::Manifest& manifest : loaded.manifests) {
    for (const checkpoint::Item& item : manifest.items) {
      if (item.path == kLifeLog) continue;
      const bool is_folder = item.kind == checkpoint::ItemKind::kFolder;
      const bool is_link = item.kind == checkpoint::ItemKind::kSymlink;
      listed.push_back({.path = item.path,
                        .type = is_folder ? sys::FileType::kDirectory
                                : is_link ? sys::FileType::kSymlink
                                          : sys::FileType::kFile,
                        .size = item.size,
                        .modified = item.modified,
                        .target = item.target});
      // Each rank has a snapshot of the same name.
      const bool is_of_rank = item.kind == checkpoint::ItemKind::kRegion && manifest.rank > 0;
      const std::string name =
          is_of_rank ? fmt::format("rank-{}/{}", manifest.rank, item.path) : item.path;
      if (!is_folder) result.files[name] = content_of(manifest, item);
    }
  }
  result.listing = trainer_files::TreeListing("", std::move(listed));
  OUTLAST_TRY(
      add_output(world, sys::join_path(root, fmt::format("jobs/{}/output", job)), result, ctx));
  return result;
}

Comparison compare_results(const FinalResult& undisturbed, const FinalResult& disturbed,
                           trainer_files::Recognise recognise) {
  Comparison comparison;
  const States before = states_of(undisturbed.listing, recognise);
  const States after = states_of(disturbed.listing, recognise);
  for (const auto& [path, content] : undisturbed.files) {
    const auto other = disturbed.files.find(path);
    if (other == disturbed.files.end() && is_earlier_state(path, before, after)) continue;
    ++comparison.files;
    if (other == disturbed.files.end()) {
      comparison.differences.push_back(path + " is only in the undisturbed run");
    } else if (other->second != content) {
      comparison.differences.push_back(path + " differs");
    }
  }
  for (const auto& [path, content] : disturbed.files) {
    if (undisturbed.files.contains(path) || is_earlier_state(path, after, before)) continue;
    ++comparison.files;
    comparison.differences.push_back(path + " is only in the disturbed run");
  }
  comparison.is_identical = comparison.differences.empty();
  return comparison;
}

std::optional<std::uint64_t> first_other_step(const std::vector<LifeRecord>& undisturbed,
                                              const std::vector<LifeRecord>& once_more,
                                              const std::vector<LifeRecord>& disturbed,
                                              const StepScale& scale) {
  const auto first = by_step(undisturbed, scale);
  const auto second = by_step(once_more, scale);
  std::set<std::string> restless;
  for (const auto& [step, sample] : first) {
    const auto other = second.find(step);
    if (other != second.end()) restless.merge(metrics_that_differ(*sample, *other->second));
  }
  const auto third = by_step(disturbed, scale);
  for (const auto& [step, sample] : first) {
    const auto other = third.find(step);
    if (other == third.end()) continue;
    const std::set<std::string> names = metrics_that_differ(*sample, *other->second);
    if (!std::ranges::includes(restless, names)) return step;
  }
  return std::nullopt;
}

}  // namespace outlast::drill
