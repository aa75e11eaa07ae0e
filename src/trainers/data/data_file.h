#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

// What the readers of data sets have in common about files.
namespace outlast::trainers {

// Whether there is a file of this name that can be opened, through symlinks. An error if that
// cannot be found out.
Result<bool> is_data_file(sys::FileSystem& files, const std::string& path);

// The lines without the blanks around them; empty ones are left out.
std::vector<std::string> data_lines(std::string_view text);

}  // namespace outlast::trainers
