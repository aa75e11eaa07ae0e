#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/name_pattern.h"
#include "trainer_files/tree_listing.h"

// From a listing to the checkpoints in it.
namespace outlast::trainer_files {

enum class SetState {
  kComplete,    // what its layout puts last is there
  kIncomplete,  // its layout says that something is missing
  kUnsure,      // nothing says either: complete when closed and quiet
};

// One checkpoint as a trainer wrote it: the files that mean something only together.
struct FoundSet {
  const Layout* layout = nullptr;  // a row of layout_table()
  // Its folder, its first file, or what its shards begin with; "" if the whole tree is one.
  std::string name = {};
  // Folders, files, hard links, symlinks and the pointer that names it, in order. Nothing that has
  // a temporary name.
  std::vector<std::string> paths = {};
  NameFacts facts = {};
  SetState state = SetState::kUnsure;
  // "has no trainer_state.json yet": a sentence goes on with it after `name`.
  std::string why = {};
  WallTime newest = {};        // when any of its files was modified last
  bool has_temporary = false;  // somebody is, or was, writing in its folder

  bool is_folder() const { return layout->shape == Shape::kFolder; }
};

enum class Recognise {
  kLayouts,     // what layout_table() knows
  kEverything,  // and each file beside that as a set of its own (any_file()), apart from logs
};

// The sets by their names alone: nothing is read, every state is kUnsure, and pointers are in no
// set yet. No path is in two of them. In the order of the names.
std::vector<FoundSet> recognise_sets(const TreeListing& listing,
                                     Recognise what = Recognise::kLayouts);

// The same set with what its files say: its state, and the pointer and facts that belong to it.
FoundSet judge_set(FoundSet set, const TreeListing& listing, FileLooks& looks);

// Both.
std::vector<FoundSet> find_sets(const TreeListing& listing, FileLooks& looks);

// "out" of "out/ckpt.pt"; "" of what is in the listed folder itself.
std::string_view folder_of(std::string_view path);
std::string path_in(std::string_view folder, std::string_view name);
// The deepest folder that both are in, or are; "" for the listed folder itself.
std::string_view common_folder(std::string_view a, std::string_view b);
// Whether it grows for as long as the trainer runs, in whatever folder it lies.
bool is_growing_log(std::string_view path);

}  // namespace outlast::trainer_files
