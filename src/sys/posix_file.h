#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "sys/file_system.h"
#include "sys/posix_fd.h"

// What PosixFileSystem and its files share.
namespace outlast::sys {

// errno as the failure of this call on this path. Call it first thing after the failure.
Error file_call_failed(std::string_view call, const std::string& path);

FileInfo posix_file_info(const struct stat& info);

// For utimensat() and futimens().
struct timespec posix_time(WallTime time);

std::unique_ptr<File> make_posix_file(Fd fd, std::string path);

}  // namespace outlast::sys
