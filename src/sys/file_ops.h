#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/file_system.h"

// What is often done with files, in terms of FileSystem, so that it is equally true in simulation.
namespace outlast::sys {

// "a/b", or `name` alone if it is absolute or `folder` is empty.
std::string join_path(std::string_view folder, std::string_view name);
// The folder that holds the last name of `path`: "." for a plain name, "/" for the root.
std::string parent_path(std::string_view path);
// The last name of `path`.
std::string_view base_name(std::string_view path);

// The whole file. kInvalidArgument, without reading it all, if it is larger than `bytes_max`; works
// on files that do not know their size (/proc, pipes).
Result<std::string> read_file(FileSystem& fs, const std::string& path, std::uint64_t bytes_max);

// Replaces `path` so that, whatever happens, it holds either all of the old or all of the new
// content; when this returns, durably the new. Writes "<path>.tmp" beside it first. One writer at a
// time.
Result<void> write_file_atomically(FileSystem& fs, const std::string& path, BytesView bytes);

// The folder and those above it, durably. Not an error if they exist.
Result<void> make_dirs(FileSystem& fs, const std::string& path);

// The file, or the folder with everything in it; symlinks are removed, not followed. Not an error
// if nothing is there.
Result<void> remove_tree(FileSystem& fs, const std::string& path);

}  // namespace outlast::sys
