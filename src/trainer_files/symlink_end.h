#pragma once

#include <string>

#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {

// What a listed symlink leads to, past other listed symlinks: the path of a listed thing, or of
// nothing. "" if that is outside of the listed folder, or a circle. An absolute target is
// understood if it begins with the folder as that was given to the listing.
std::string end_of_symlink(const TreeListing& listing, const ListedEntry& symlink);

}  // namespace outlast::trainer_files
