#pragma once

#include <memory>

#include "sys/file_system.h"

namespace outlast::sys {

// The kernel's file system: pread, pwrite, fsync, rename. Interrupted calls are repeated.
std::unique_ptr<FileSystem> make_posix_file_system();

}  // namespace outlast::sys
