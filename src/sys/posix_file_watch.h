#pragma once

#include <memory>

#include "sys/file_watch.h"

namespace outlast::sys {

// inotify, with a watch for each folder.
std::unique_ptr<FileWatches> make_posix_file_watches();

}  // namespace outlast::sys
