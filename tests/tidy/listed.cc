#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

std::set<std::string> cmake_words(std::string_view text) {
  constexpr std::string_view kBetween = " ()\"\t";
  std::set<std::string> words;
  for (std::string_view line : split_lines(text)) {
    line = line.substr(0, line.find('#'));
    for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const std::size_t end = line.find_first_of(kBetween, at);
      words.insert(std::string(line.substr(at, end - at)));
      at = end == std::string_view::npos ? end : line.find_first_not_of(kBetween, end);
    }
  }
  return words;
}

// The CMakeLists.txt of the nearest folder above `path`, inside src/.
const SourceFile* nearest_cmake_lists(const Tree& tree, std::string path) {
  while (path.starts_with("src/")) {
    path.resize(path.rfind('/'));
    if (const SourceFile* found = tree.find(path + "/CMakeLists.txt")) return found;
  }
  return nullptr;
}

}  // namespace

std::vector<Finding> check_listed(const Tree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree.files) {
    if (!is_cpp(file.path) || !file.path.starts_with("src/")) continue;
    const SourceFile* lists = nearest_cmake_lists(tree, file.path);
    if (lists == nullptr) {
      findings.push_back({file.path, 1, "listed", "its module has no CMakeLists.txt: add one"});
      continue;
    }
    const std::size_t folder = lists->path.rfind('/') + 1;
    if (cmake_words(lists->text).contains(file.path.substr(folder))) continue;
    findings.push_back(
        {file.path, 1, "listed", "is not built, or not checked: name it in " + lists->path});
  }
  return findings;
}

}  // namespace outlast::tidy
