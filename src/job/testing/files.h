#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// The files of the tree that tests read. For tests only.
namespace outlast::job::testing {

inline std::filesystem::path tree_path(std::string_view relative) {
  return std::filesystem::path(OUTLAST_SOURCE_DIR) / relative;
}

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The files in a folder whose names end so, sorted.
inline std::vector<std::filesystem::path> files_in(std::string_view folder,
                                                   std::string_view ending = "") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(tree_path(folder))) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace outlast::job::testing
