// What outlast takes for checkpoints in a folder of a trainer.
//
//   list_checkpoints FOLDER   a line for each: name, layout, step or epoch ("-": none), state
#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/file_system.h"
#include "sys/posix_world.h"
#include "sys/world.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

namespace {

using outlast::Result;
using outlast::trainer_files::FoundSet;
using outlast::trainer_files::SetState;

std::string_view word_for(SetState state) {
  switch (state) {
    case SetState::kComplete:
      return "complete";
    case SetState::kIncomplete:
      return "incomplete";
    case SetState::kUnsure:
      return "unsure";
  }
  return "";
}

Result<void> list(const std::string& folder) {
  outlast::sys::RealWorld real;
  outlast::sys::FileSystem& files = real.world().files;
  OUTLAST_TRY_ASSIGN(const auto listing, outlast::trainer_files::list_tree(files, folder, {}, {}));
  outlast::trainer_files::FileLooks looks(files);
  for (const FoundSet& set : outlast::trainer_files::find_sets(listing, looks)) {
    const auto number = set.facts.step ? set.facts.step : set.facts.epoch;
    fmt::print("{}\t{}\t{}\t{}\n", set.name, set.layout->name,
               number ? std::to_string(*number) : "-", word_for(set.state));
  }
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto done = list(words[1]);
  if (!done) fmt::print(stderr, "list_checkpoints: {}\n", done.error().to_string());
  return done ? 0 : 1;
}
