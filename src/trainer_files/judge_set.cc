#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"
#include "sys/file_system.h"
#include "trainer_files/completeness.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/name_pattern.h"
#include "trainer_files/pointer_file.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

struct Judgement {
  SetState state = SetState::kUnsure;
  std::string why = {};
};

std::string_view name_at_end(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

class Judge {
 public:
  Judge(FoundSet& set, const TreeListing& listing, FileLooks& looks)
      : set_(set), row_(*set.layout), listing_(listing), looks_(looks) {}

  void run() {
    read_pointer();
    read_facts();
    Judgement judgement = judge();
    if (set_.has_temporary && judgement.state == SetState::kComplete &&
        row_.proof != Proof::kRename) {
      judgement = {SetState::kUnsure, "has a file with a temporary name in it"};
    }
    // Somebody has begun to write it. Which set it belongs to will be known in a moment.
    if (pointer_ != nullptr && named_.empty() && judgement.state == SetState::kComplete) {
      judgement = {SetState::kUnsure, fmt::format("has an empty '{}' beside it", row_.pointer)};
    }
    set_.state = judgement.state;
    set_.why = std::move(judgement.why);
  }

 private:
  Judgement judge() {
    switch (row_.proof) {
      case Proof::kStructure:
        return by_structure();
      case Proof::kLastFile:
        return by_last_file();
      case Proof::kSealed:
        return by_seal();
      case Proof::kPointer:
        return row_.shape == Shape::kShards ? by_shards() : by_pointer();
      case Proof::kRename:
        if (match_name(row_.unfinished, name_at_end(set_.name))) {
          return {SetState::kIncomplete, "has a temporary name, which it gets rid of at the end"};
        }
        return {SetState::kComplete, "has its final name"};
    }
    return {};
  }

  // The files of the set, without its links.
  std::vector<const ListedEntry*> files() const {
    std::vector<const ListedEntry*> found;
    for (const std::string& path : set_.paths) {
      const ListedEntry* const entry = listing_.find(path);
      if (entry != nullptr && entry->type == sys::FileType::kFile) found.push_back(entry);
    }
    return found;
  }

  Judgement by_structure() {
    std::vector<const ListedEntry*> looked_at = files();
    if (pointer_ != nullptr) std::erase(looked_at, pointer_);
    if (looked_at.empty()) {
      return {SetState::kIncomplete, row_.shape == Shape::kFile
                                         ? "leads to nothing that is a checkpoint here"
                                         : "is empty"};
    }
    // All names of a set of one file are the same file.
    if (row_.shape == Shape::kFile) looked_at.resize(1);
    Judgement judgement = {SetState::kComplete, "is whole"};
    for (const ListedEntry* const entry : looked_at) {
      const std::string of =
          row_.shape == Shape::kFile ? "" : fmt::format("has {}, which ", name_at_end(entry->path));
      if (entry->size == 0 && row_.shape == Shape::kFile) {
        return {SetState::kIncomplete, "is empty"};
      }
      const Completeness found = looks_.completeness(listing_, *entry);
      if (found.wholeness == Wholeness::kTorn) return {SetState::kIncomplete, of + found.why};
      if (found.wholeness == Wholeness::kUnknown) judgement = {SetState::kUnsure, of + found.why};
    }
    // Whether one more file is to come, no file can tell.
    if (row_.shape != Shape::kFile && judgement.state == SetState::kComplete) {
      judgement = {SetState::kUnsure, "has only whole files in it"};
    }
    return judgement;
  }

  // The file that is written last, of several the newest; nullptr if there is none.
  const ListedEntry* last_file() const {
    const ListedEntry* last = nullptr;
    for (const std::string& path : set_.paths) {
      if (folder_of(path) != set_.name) continue;
      const auto is_it = [&](std::string_view pattern) {
        return match_name(pattern, name_at_end(path)).has_value();
      };
      if (!std::ranges::any_of(row_.last, is_it)) continue;
      const ListedEntry* const entry = listing_.find(path);
      if (last == nullptr || entry->modified > last->modified) last = entry;
    }
    return last;
  }

  std::string words_for_last() const { return fmt::format("{}", fmt::join(row_.last, " or ")); }

  Judgement by_last_file() {
    if (!row_.unfinished.empty() && listing_.find(path_in(set_.name, row_.unfinished)) != nullptr) {
      return {SetState::kIncomplete,
              fmt::format("has {}, which says that it is not finished", row_.unfinished)};
    }
    const ListedEntry* const last = last_file();
    if (last == nullptr) {
      return {SetState::kIncomplete,
              fmt::format("has no {} yet, which is written last", words_for_last())};
    }
    if (last->size == 0) {
      return {SetState::kIncomplete, fmt::format("has an empty {}", name_at_end(last->path))};
    }
    Judgement structure = by_structure();
    if (structure.state == SetState::kIncomplete) return structure;
    return {SetState::kUnsure,
            fmt::format("has {}, which is written last", name_at_end(last->path))};
  }

  Judgement by_seal() {
    const ListedEntry* const seal = last_file();
    if (seal == nullptr) {
      return {SetState::kIncomplete,
              fmt::format("has no {} yet, which is written last", words_for_last())};
    }
    if (seal->size == 0 || looks_.completeness(listing_, *seal).wholeness == Wholeness::kTorn) {
      return {SetState::kIncomplete,
              fmt::format("has {}, which is not written yet", name_at_end(seal->path))};
    }
    for (const ListedEntry* const entry : files()) {
      if (entry->modified <= seal->modified) continue;
      Judgement structure = by_structure();
      if (structure.state == SetState::kIncomplete) return structure;
      return {SetState::kUnsure, fmt::format("has {}, which is newer than {}",
                                             name_at_end(entry->path), name_at_end(seal->path))};
    }
    return {SetState::kComplete,
            fmt::format("has {}, which is written last", name_at_end(seal->path))};
  }

  // How far what the pointer names is.
  std::optional<std::uint64_t> pointer_step() const {
    if (named_.empty()) return std::nullopt;
    for (const std::string_view pattern : row_.names) {
      if (const auto facts = match_name(pattern, named_.front())) return facts->step;
    }
    return parse_number<std::uint64_t>(named_.front());
  }

  Judgement by_pointer() {
    if (pointer_ == nullptr) {
      return {SetState::kIncomplete,
              fmt::format("is not named by '{}' yet, which is written last", row_.pointer)};
    }
    const std::optional<std::uint64_t> named = pointer_step();
    const bool is_older = named && set_.facts.step && *set_.facts.step <= *named;
    if (!is_named() && is_older && set_.newest > pointer_->modified) {
      Judgement structure = by_structure();  // a trainer that started over, before its pointer did
      if (structure.state == SetState::kIncomplete) return structure;
      return {SetState::kUnsure, fmt::format("is newer than '{}'", row_.pointer)};
    }
    if (is_named() || is_older) {
      return {SetState::kComplete, fmt::format("is named by '{}', or is older", row_.pointer)};
    }
    if (!set_.facts.step && set_.newest <= pointer_->modified) {
      return {SetState::kUnsure, fmt::format("is older than '{}'", row_.pointer)};
    }
    return {SetState::kIncomplete,
            fmt::format("is not named by '{}' yet, which names {}", row_.pointer,
                        named_.empty() ? "nothing" : named_.front())};
  }

  Judgement by_shards() {
    if (listing_.find(set_.name + ".index") == nullptr) {
      return {SetState::kIncomplete, "has no .index file yet"};
    }
    // "of 2" is in the name of each.
    std::set<std::string_view> parts;
    std::uint64_t parts_expected = 0;
    for (const std::string& path : set_.paths) {
      const std::size_t at = path.rfind(".data-");
      const std::size_t of = path.rfind("-of-");
      if (at == std::string::npos || of == std::string::npos) continue;
      parts.insert(std::string_view(path).substr(at));
      const std::string_view count = std::string_view(path).substr(of + 4);
      parts_expected = parse_number<std::uint64_t>(count).value_or(0);
    }
    if (parts.size() < parts_expected) {
      return {SetState::kIncomplete,
              fmt::format("has {} of {} data files", parts.size(), parts_expected)};
    }
    if (is_named()) {
      return {SetState::kComplete, fmt::format("is named by '{}'", row_.pointer)};
    }
    // One that is kept longer than the pointer speaks of it is older than the pointer.
    if (pointer_ != nullptr && pointer_->modified > set_.newest) {
      return {SetState::kUnsure, fmt::format("is older than '{}'", row_.pointer)};
    }
    return {SetState::kIncomplete,
            fmt::format("is not named by '{}' yet, which is written last", row_.pointer)};
  }

  bool is_named() const {
    return std::ranges::find(named_, name_at_end(set_.name)) != named_.end() ||
           (!named_.empty() && row_.proof == Proof::kPointer && set_.facts.step &&
            parse_number<std::uint64_t>(named_.front()) == set_.facts.step);
  }

  // The pointer goes with the set that it names first.
  void read_pointer() {
    if (row_.pointer.empty()) return;
    pointer_ = listing_.find(path_in(folder_of(set_.name), row_.pointer));
    if (pointer_ == nullptr || pointer_->type != sys::FileType::kFile) {
      pointer_ = nullptr;
      return;
    }
    named_ = names_in_pointer(looks_.text(listing_, *pointer_));
    const bool is_newest =
        !named_.empty() &&
        (named_.front() == name_at_end(set_.name) ||
         std::ranges::any_of(set_.paths,
                             [&](const std::string& path) {
                               return folder_of(path) == folder_of(set_.name) &&
                                      name_at_end(path) == named_.front();
                             }) ||
         (row_.proof == Proof::kPointer && set_.facts.step && pointer_step() == set_.facts.step));
    if (!is_newest) return;
    set_.paths.insert(std::ranges::lower_bound(set_.paths, pointer_->path), pointer_->path);
  }

  void read_facts() {
    if (row_.facts.empty()) return;
    const ListedEntry* const file = listing_.find(path_in(set_.name, row_.facts));
    if (file == nullptr || file->type != sys::FileType::kFile) return;
    const auto parsed = parse_json(looks_.text(listing_, *file));
    if (!parsed) return;
    const auto number = [&](std::string_view key) -> std::optional<std::uint64_t> {
      constexpr double kMax = 1e15;  // up to here a double is exact
      const auto value = json_number(*parsed, key);
      if (!value || !(*value >= 0 && *value < kMax)) return std::nullopt;
      return static_cast<std::uint64_t>(std::floor(*value));
    };
    merge_facts({.step = number("global_step"), .epoch = number("epoch")}, set_.facts);
  }

  FoundSet& set_;
  const Layout& row_;
  const TreeListing& listing_;
  FileLooks& looks_;
  const ListedEntry* pointer_ = nullptr;
  std::vector<std::string> named_;
};

}  // namespace

FoundSet judge_set(FoundSet set, const TreeListing& listing, FileLooks& looks) {
  Judge(set, listing, looks).run();
  return set;
}

std::vector<FoundSet> find_sets(const TreeListing& listing, FileLooks& looks) {
  std::vector<FoundSet> sets = recognise_sets(listing);
  for (FoundSet& set : sets) set = judge_set(std::move(set), listing, looks);
  return sets;
}

}  // namespace outlast::trainer_files
