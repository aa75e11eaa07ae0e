#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

// The names that we leave in other people's folders, and paths as they are given to us.
namespace outlast::checkpoint {

// In a folder: a restore into it has begun and not ended. What else is in it is not to be believed.
inline constexpr std::string_view kRestoreMark = ".outlast-restoring";

// Whether a name in a folder is one of ours: the mark, or something that is not finished yet. Such
// things are never saved, and no checkpoint has them.
bool is_our_name(std::string_view name);

// Where a file is written before it gets its name: beside it.
std::string part_path(const std::string& path);

// A path that somebody gave us, past the symlinks at its end: that one is at "latest" when "latest"
// was said. Not an error if there is nothing. What is found below is never followed.
Result<std::string> follow_given_path(sys::FileSystem& files, const std::string& path);

// Whatever is there, if anything, with all that is in it, be it read-only. Symlinks are removed,
// not followed.
Result<void> remove_whatever_is_at(sys::FileSystem& files, const std::string& path,
                                   const sys::CallContext& ctx);

// kCancelled if the caller was asked to stop; `what` begins the sentence.
Result<void> check_not_stopped(const sys::CallContext& ctx, std::string_view what);

}  // namespace outlast::checkpoint
