#include <fmt/core.h>
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/file_system.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/name_pattern.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

constexpr std::size_t kNamesMax = 4;  // in one sentence

std::string folder_for_people(std::string_view folder) {
  return folder.empty() ? "./" : fmt::format("{}/", folder);
}

// `path` as seen from `folder`.
std::string name_from(std::string_view folder, std::string_view path) {
  if (path.empty()) return "everything";
  return std::string(folder.empty() ? path : path.substr(folder.size() + 1));
}

std::string words_of(const KnownSet& known) {
  std::string words(known.set.layout->name);
  if (known.is_in_place) {
    words += ", written in place";
  } else if (known.is_overwritten && !known.set.is_folder()) {
    words += ", replaced by rename";
  }
  return words;
}

// "a, b, c, d and 5 more".
std::string join_names(const std::vector<std::string>& names) {
  if (names.size() <= kNamesMax) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kNamesMax, ", "),
                     names.size() - kNamesMax);
}

// Folder and reason, with what it is about.
using Groups = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

void add_lines(const Groups& groups, std::vector<std::string>& lines) {
  for (const auto& [key, names] : groups) {
    const auto& [folder, why] = key;
    const bool is_one_file = names.size() == 1;
    lines.push_back(is_one_file ? fmt::format("left out {}: {}", names.front(), why)
                                : fmt::format("left out {} ({} files): {}",
                                              folder_for_people(folder), names.size(), why));
  }
}

// Files that are told apart by their names alone, and are worth a word.
void add_no_checkpoints(const TreeListing& listing, Groups& groups) {
  for (const ListedEntry& entry : listing.entries()) {
    if (entry.type != sys::FileType::kFile) continue;
    const std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    for (const NoCheckpoint& row : no_checkpoint_table()) {
      if (row.what.empty() || !match_name(row.name, name)) continue;
      const std::string why = fmt::format("{} are no checkpoints", row.what);
      groups[{std::string(folder_of(entry.path)), why}].push_back(entry.path);
    }
  }
}

}  // namespace

std::vector<std::string> CheckpointFinder::report() const {
  std::vector<std::string> lines;
  std::map<std::string, std::vector<std::string>> found;  // by what they are
  const std::string folder = folder_.value_or("");
  for (const KnownSet& known : known_) {
    if (known.standing != Standing::kAbandoned) {
      found[words_of(known)].push_back(name_from(folder, known.set.name));
    }
  }
  lines.reserve(found.size());
  for (const auto& [words, names] : found) {
    lines.push_back(fmt::format("found checkpoints in {}: {} ({})", folder_for_people(folder),
                                join_names(names), words));
  }
  if (found.empty()) lines.emplace_back("found no checkpoints yet");
  Groups groups;
  for (const KnownSet& known : known_) {
    const std::string name = known.set.name.empty() ? "./" : known.set.name;
    if (known.standing == Standing::kBeingWritten) {
      lines.push_back(fmt::format("{} is not complete yet: it {}", name, known.why));
    } else if (known.standing == Standing::kAbandoned) {
      lines.push_back(
          fmt::format("left out {}: it {}, and nobody goes on writing it", name, known.why));
    }
  }
  for (const LeftOutSet& set : left_out_) {
    groups[{std::string(folder_of(set.name)), set.why}].push_back(set.name);
  }
  add_no_checkpoints(listing_, groups);
  add_lines(groups, lines);
  for (const auto& [reason, count] : listing_.not_listed) {
    lines.push_back(fmt::format("did not look at {} ({})", to_string(reason), count));
  }
  if (listing_.cut_off) {
    lines.push_back(fmt::format(
        "stopped looking after {} files and folders: name the folder of the checkpoints in the job "
        "file (checkpoint: {{dir: …}})",
        listing_.entries().size()));
  }
  return lines;
}

}  // namespace outlast::trainer_files
