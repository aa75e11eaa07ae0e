#include "trainers/data/data_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::trainers {

Result<bool> is_data_file(sys::FileSystem& files, const std::string& path) {
  // Opened rather than looked at, because data sets are often symlinks.
  const Result<std::unique_ptr<sys::File>> file = files.open(path, sys::OpenMode::kRead);
  if (!file && file.error().code() == ErrorCode::kNotFound) return false;
  if (!file) return file.error();
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, (*file)->info());
  return info.type == sys::FileType::kFile;
}

std::vector<std::string> data_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = ascii_trimmed(text.substr(at, end - at));
    if (!line.empty()) lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace outlast::trainers
