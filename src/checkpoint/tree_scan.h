#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "checkpoint/manifest.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

// What there is to save.
namespace outlast::checkpoint {

struct FoundItem {
  Item item = {};         // without chunks and identity; of a file the size as it was found
  std::string path = {};  // to open it by
  sys::FileInfo info = {};
};

struct TreeScan {
  std::vector<FoundItem> found = {};      // in the order that a Manifest wants
  std::vector<std::string> skipped = {};  // paths of sockets, pipes and devices: nothing to save
  // Folders in which a restore has begun and not ended: what was found there is a mixture.
  std::vector<std::string> half_restored = {};
};

// Looks at what these paths lead to. One folder gives its contents, with paths relative to it; one
// file itself, by its base name; several paths give each under its base name, and two with the same
// one are kInvalidArgument. A given path that is a symlink is followed; those below are kept as
// they are, wherever they lead. Of several names of one file the first, in order, is the kFile. Our
// own unfinished files are left out. A folder in which something vanishes is looked at again;
// kConditionFailed, naming it, if that does not end.
Result<TreeScan> scan_tree(sys::FileSystem& files, const std::vector<std::string>& paths,
                           const sys::CallContext& ctx);

// Of exactly these paths below `folder`, by which the items are called, too: each thing itself, of
// a folder not what is in it. kNotFound, naming it, if one is gone.
Result<TreeScan> scan_paths(sys::FileSystem& files, const std::string& folder,
                            const std::vector<std::string>& paths, const sys::CallContext& ctx);

// By what a file that was looked at after `now` will be known again. nullopt if it changed so
// shortly before that it may change once more without being given another time.
std::optional<FileIdentity> identity_of(const sys::FileInfo& info, WallTime now);

// Where the identities of these files mean something: this machine and their file systems, as a
// text that tells neither. "" if the machine has no id (/etc/machine-id).
std::string origin_of(sys::FileSystem& files, std::span<const FoundItem> found);

}  // namespace outlast::checkpoint
