#pragma once

#include <span>
#include <string_view>
#include <vector>

// How trainers lay out their checkpoints on disk. A trainer that is missing here is one more row.
namespace outlast::trainer_files {

enum class Shape {
  kFile,    // each file is a checkpoint; its other names and links to it belong to it
  kFolder,  // a folder with everything in it
  kShards,  // files of one beginning: "<it>.index" and every "<it>.data-00000-of-00001"
};

// What shows that one is complete. Whatever it is, closing and quiet are asked for where it is
// weak.
enum class Proof {
  kStructure,  // the bytes of its files, where their format tells; else closing and quiet
  kLastFile,   // a file that is written last is there; then quiet
  kSealed,     // a file that is written last is there, and nothing is newer than it
  kPointer,    // a text file beside it names it, or one that is further
  kRename,     // it has its name
};

// All texts are patterns of match_name().
struct Layout {
  std::string_view name = {};  // for people
  Shape shape = Shape::kFile;
  Proof proof = Proof::kStructure;
  // The last name of the path; of shards, what they begin with. The first that fits tells the step.
  std::vector<std::string_view> names = {};
  // Of a folder: one of these must be in it, or, "*/x", one level below. None: the name suffices.
  std::vector<std::string_view> signs = {};
  // kLastFile and kSealed: one of these is written last.
  std::vector<std::string_view> last = {};
  // In the folder as long as it is not complete. Of kRename: the folder's name until then.
  std::string_view unfinished = {};
  // The text file beside it that names the newest. For kPointer it is the proof.
  std::string_view pointer = {};
  // A JSON file in the folder with "global_step" or "epoch" in it.
  std::string_view facts = {};
  // What makes such a trainer resume, to be read after "try".
  std::string_view resume = {};
};

// Rows that come first win: from what is sure to what is a guess.
std::span<const Layout> layout_table();

// Not in the table: the layout of a file of which nothing is known but that it belongs to the
// state.
const Layout& any_file();

// Files that are no checkpoints whatever else their name says: logs, tables, pictures, code.
struct NoCheckpoint {
  std::string_view name = {};
  std::string_view what = {};  // "TensorBoard event files"; none: not worth a word
};
std::span<const NoCheckpoint> no_checkpoint_table();

}  // namespace outlast::trainer_files
