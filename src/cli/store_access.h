#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/program/terminal.h"
#include "store/object_store.h"
#include "store/transfer/copier.h"
#include "sys/world.h"

// How the store commands understand what they are given.
namespace outlast::cli {

// A URL or path, opened: the bucket, container or folder, and what was named in it.
struct OpenPlace {
  std::unique_ptr<store::ObjectStore> store = {};
  std::string key = {};  // "" for all of it; ends in '/' if a folder was meant
  // Everything below the key: "" or a prefix that ends in '/'.
  std::string folder() const;
};
// kInvalidArgument, with a sentence that names `text`, if it is no URL of ours.
Result<OpenPlace> open_place(const std::string& text, sys::World& world);

// A plain path or file:///path, for cp: a file of this machine, not an object of a folder store.
bool is_local(std::string_view text);
std::string local_path(std::string_view text);

// Where unfinished uploads are remembered: below XDG_CACHE_HOME or ~/.cache; "" if there is
// neither.
std::string upload_state_folder(sys::Environment& environment);

// "3 of 5 files, 1.2 GiB of 4.0 GiB, 310.4 MiB/s".
std::string progress_text(const store::CopyProgress& progress, double seconds);

}  // namespace outlast::cli
