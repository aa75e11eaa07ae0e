#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/file_system.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/name_pattern.h"
#include "trainer_files/row_patterns.h"
#include "trainer_files/symlink_end.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// A folder that is called just "tmp" is somebody's place to work in.
bool is_temporary_folder(std::string_view name) {
  return name != "tmp" && is_temporary_name(name);
}

class Recogniser {
 public:
  explicit Recogniser(const TreeListing& listing)
      : listing_(listing), is_taken_(listing.entries().size(), false) {}

  std::vector<FoundSet> run(Recognise what) {
    note_signs();
    add_folder("");
    for (const ListedEntry& entry : listing_.entries()) {
      if (entry.type == sys::FileType::kDirectory && !is_taken(entry)) add_folder(entry.path);
    }
    add_shards();
    add_files();
    add_symlinks();
    drop_pointers();
    if (what == Recognise::kEverything) add_the_rest();
    for (FoundSet& set : sets_) {
      std::ranges::sort(set.paths);
      for (const std::string& path : set.paths) {
        const ListedEntry* const entry = listing_.find(path);
        if (entry->type == sys::FileType::kFile) set.newest = std::max(set.newest, entry->modified);
      }
    }
    std::ranges::sort(sets_, {}, &FoundSet::name);
    return std::move(sets_);
  }

 private:
  std::size_t index_of(const ListedEntry& entry) const {
    return static_cast<std::size_t>(&entry - listing_.entries().data());
  }
  bool is_taken(const ListedEntry& entry) const { return is_taken_[index_of(entry)]; }
  void take(const ListedEntry& entry) { is_taken_[index_of(entry)] = true; }

  // Which rows have a sign in which folder: one pass over all names, instead of one for each
  // folder.
  void note_signs() {
    static const RowPatterns signs(&Layout::signs, Shape::kFolder);
    for (const ListedEntry& entry : listing_.entries()) {
      const std::string_view folder = folder_of(entry.path);
      const std::string_view name = last_name(entry.path);
      for (const Layout* const row : signs.all_matches(name)) signs_[folder].insert(row);
      // And one level above: "*/x".
      if (folder.empty()) continue;
      for (const Layout* const row : signs.all_matches(path_in(last_name(folder), name))) {
        // A folder of checkpoints is none itself.
        if (!match_row(*row, last_name(folder))) signs_[folder_of(folder)].insert(row);
      }
    }
  }

  bool has_sign(const Layout& row, std::string_view folder) const {
    const auto found = signs_.find(folder);
    return row.signs.empty() || (found != signs_.end() && found->second.contains(&row));
  }

  // What the name of a folder tells, if it is one of this row.
  std::optional<NameFacts> know_folder(const Layout& row, std::string_view folder) const {
    const std::string_view name = last_name(folder);
    if (row.proof == Proof::kRename) {
      if (auto facts = match_name(row.unfinished, name)) return facts;
    }
    if (is_temporary_folder(name) || !has_sign(row, folder)) return std::nullopt;
    // The listed folder is called nothing: only what is in it can tell.
    if (folder.empty() && row.signs.empty()) return std::nullopt;
    return match_row(row, name);
  }

  void add_folder(std::string_view folder) {
    for (const Layout& row : layout_table()) {
      if (row.shape != Shape::kFolder) continue;
      if (auto facts = know_folder(row, folder)) {
        return add_folder_set(row, folder, std::move(*facts));
      }
    }
    // What is in a folder with a temporary name does not count until it is renamed.
    if (is_temporary_folder(last_name(folder))) {
      for (const ListedEntry& entry : listing_.below(folder)) take(entry);
    }
  }

  void add_folder_set(const Layout& row, std::string_view folder, NameFacts facts) {
    FoundSet set{.layout = &row, .name = std::string(folder), .facts = std::move(facts)};
    if (const ListedEntry* const own = listing_.find(folder)) {
      take(*own);
      set.paths.push_back(own->path);
    }
    const std::size_t prefix = folder.empty() ? 0 : folder.size() + 1;
    for (const ListedEntry& entry : listing_.below(folder)) {
      take(entry);
      if (is_temporary_below(std::string_view(entry.path).substr(prefix))) {
        set.has_temporary = true;
      } else if (entry.type != sys::FileType::kFile || !is_growing_log(entry.path)) {
        // A log that grows while the set is saved would put off the save for ever.
        set.paths.push_back(entry.path);
      }
    }
    sets_.push_back(std::move(set));
  }

  static bool is_temporary_below(std::string_view path) {
    while (true) {
      const std::size_t slash = path.find('/');
      if (is_temporary_name(path.substr(0, slash))) return true;
      if (slash == std::string_view::npos) return false;
      path.remove_prefix(slash + 1);
    }
  }

  void add_shards() {
    for (const Layout& row : layout_table()) {
      if (row.shape != Shape::kShards) continue;
      std::map<std::string_view, FoundSet> found;
      for (const ListedEntry& entry : listing_.entries()) {
        if (is_taken(entry) || !match_name("*.data-{}-of-{}", last_name(entry.path))) continue;
        const std::string_view beginning =
            std::string_view(entry.path).substr(0, entry.path.rfind(".data-"));
        std::optional<NameFacts> facts = match_row(row, last_name(beginning));
        if (!facts || is_temporary_name(last_name(entry.path))) continue;
        FoundSet& set = found[beginning];
        set.layout = &row;
        set.name = beginning;
        set.facts = std::move(*facts);
        set.paths.push_back(entry.path);
        take(entry);
      }
      for (auto& [beginning, set] : found) {
        const ListedEntry* const index = listing_.find(set.name + ".index");
        if (index != nullptr && !is_taken(*index)) {
          set.paths.push_back(index->path);
          take(*index);
        }
        sets_.push_back(std::move(set));
      }
    }
  }

  static std::optional<RowPatterns::Match> know_file(std::string_view name) {
    static const RowPatterns names(&Layout::names, Shape::kFile);
    std::optional<RowPatterns::Match> known = names.first_match(name);
    if (known && (is_temporary_name(name) || is_no_checkpoint(name))) return std::nullopt;
    return known;
  }

  // Files with a known name, each with all its other names.
  void add_files() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<const ListedEntry*>> names_of;
    for (const ListedEntry& entry : listing_.entries()) {
      if (entry.type == sys::FileType::kFile && entry.links > 1 && !is_taken(entry)) {
        names_of[{entry.device, entry.inode}].push_back(&entry);
      }
    }
    for (const ListedEntry& entry : listing_.entries()) {
      if (entry.type != sys::FileType::kFile || is_taken(entry)) continue;
      std::optional<RowPatterns::Match> known = know_file(last_name(entry.path));
      if (!known) continue;
      FoundSet set{.layout = known->row, .name = entry.path, .facts = std::move(known->facts)};
      set.paths.push_back(entry.path);
      take(entry);
      const auto names = names_of.find({entry.device, entry.inode});
      if (names != names_of.end()) add_other_names(names->second, set);
      sets_.push_back(std::move(set));
    }
  }

  void add_other_names(const std::vector<const ListedEntry*>& names, FoundSet& set) {
    for (const ListedEntry* const other : names) {
      if (is_taken(*other) || is_temporary_name(last_name(other->path))) continue;
      take(*other);
      set.paths.push_back(other->path);
      const std::optional<RowPatterns::Match> also = know_file(last_name(other->path));
      if (!also) continue;
      merge_facts(also->facts, set.facts);
      set.layout = std::min(set.layout, also->row);  // the row that comes first, of one table
    }
  }

  // Each belongs to the set that it leads to, if any.
  void add_symlinks() {
    std::map<std::string, std::size_t> set_of;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      for (const std::string& path : sets_[i].paths) set_of[path] = i;
    }
    for (const ListedEntry& entry : listing_.entries()) {
      if (entry.type != sys::FileType::kSymlink || is_taken(entry)) continue;
      const std::string_view name = last_name(entry.path);
      if (is_temporary_name(name)) continue;
      const auto found = set_of.find(end_of_symlink(listing_, entry));
      if (found != set_of.end()) {
        sets_[found->second].paths.push_back(entry.path);
        take(entry);
      } else if (std::optional<RowPatterns::Match> known = know_file(name)) {
        sets_.push_back({.layout = known->row,
                         .name = entry.path,
                         .paths = {entry.path},
                         .facts = std::move(known->facts)});
        take(entry);
      }
    }
  }

  // The pointer of one set is no checkpoint, though it may be called "checkpoint".
  void drop_pointers() {
    for (const FoundSet& set : sets_) {
      if (set.layout->pointer.empty()) continue;
      pointers_.insert(path_in(folder_of(set.name), set.layout->pointer));
    }
    std::erase_if(sets_, [&](const FoundSet& set) {
      return set.layout->shape == Shape::kFile && pointers_.contains(set.name);
    });
  }

  void add_the_rest() {
    for (const ListedEntry& entry : listing_.entries()) {
      if (entry.type == sys::FileType::kDirectory || is_taken(entry)) continue;
      if (pointers_.contains(entry.path) || is_growing_log(entry.path)) continue;
      if (is_temporary_below(entry.path)) continue;
      sets_.push_back({.layout = &any_file(), .name = entry.path, .paths = {entry.path}});
    }
  }

  const TreeListing& listing_;
  std::vector<bool> is_taken_;  // by the place in the listing
  std::map<std::string_view, std::set<const Layout*>> signs_;
  std::set<std::string> pointers_;
  std::vector<FoundSet> sets_;
};

}  // namespace

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view common_folder(std::string_view a, std::string_view b) {
  std::size_t same = 0;
  for (std::size_t at = 0;; ++at) {
    const bool a_ends = at == a.size() || a[at] == '/';
    const bool b_ends = at == b.size() || b[at] == '/';
    if (a_ends && b_ends) same = at;
    if (at == a.size() || at == b.size() || a[at] != b[at]) break;
  }
  return a.substr(0, same);
}

std::string path_in(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return std::string(folder) + "/" + std::string(name);
}

bool is_growing_log(std::string_view path) {
  const std::string_view name = last_name(path);
  return std::ranges::any_of(no_checkpoint_table(), [&](const NoCheckpoint& row) {
    return !row.what.empty() && match_name(row.name, name);
  });
}

std::vector<FoundSet> recognise_sets(const TreeListing& listing, Recognise what) {
  return Recogniser(listing).run(what);
}

}  // namespace outlast::trainer_files
