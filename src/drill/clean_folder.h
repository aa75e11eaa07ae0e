#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

// What a fresh machine has before the trainer starts: the code and its small data.
namespace outlast::drill {

inline constexpr std::uint64_t kCopyBytesMax = std::uint64_t{1} << 30U;

struct CopyPlan {
  std::string from = {};  // absolute
  // What is copied of it; empty: everything but what is left out.
  std::vector<std::string> files = {};
  std::set<std::string> left_out = {};        // paths below `from`
  std::set<std::string> left_out_names = {};  // of folders, wherever they are: ".git"
};

// How much that is. kInvalidArgument, with what to do, if it is more than `bytes_max`; kNotFound if
// one of the files is not there.
Result<std::uint64_t> measure_copy(sys::FileSystem& files, const CopyPlan& plan,
                                   std::uint64_t bytes_max, const sys::CallContext& ctx);

// Into `to`, which is there and empty. Permissions and times are kept, hard links are not; a
// symlink that leads out of the folder by a relative path leads to the same place from there.
Result<void> copy_files(sys::FileSystem& files, const CopyPlan& plan, const std::string& to,
                        const sys::CallContext& ctx);

}  // namespace outlast::drill
