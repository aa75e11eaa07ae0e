#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

constexpr std::string_view kLongFiles = "tests/tidy/long_files.txt";
constexpr std::size_t kLinesFree = 400;
constexpr std::size_t kLinesMax = 1000;

bool is_source(std::string_view path) {
  return is_cpp(path) || path == "dev" || path.ends_with(".py") || path.ends_with(".sh") ||
         path.ends_with(".cmake") || path.ends_with("CMakeLists.txt") || path.ends_with(".js");
}

struct LongFile {
  std::string path;
  std::size_t lines_max = 0;
  int line = 0;  // of long_files.txt
};

constexpr std::string_view kForm = "write: path, most lines, and the reason";

std::vector<LongFile> read_long_files(const Tree& tree, std::vector<Finding>& findings) {
  std::vector<LongFile> entries;
  for (const Exception& line : read_exceptions(tree, kLongFiles, "length", kForm, findings)) {
    std::istringstream number(line.word);
    LongFile entry{.path = line.path, .lines_max = 0, .line = line.line};
    if (number >> entry.lines_max && number.eof()) {
      entries.push_back(entry);
    } else {
      findings.push_back({std::string(kLongFiles), line.line, "length", std::string(kForm)});
    }
  }
  return entries;
}

}  // namespace

std::vector<Finding> check_lengths(const Tree& tree) {
  std::vector<Finding> findings;
  const std::vector<LongFile> entries = read_long_files(tree, findings);
  for (const LongFile& entry : entries) {
    const SourceFile* file = tree.find(entry.path);
    if (file != nullptr && split_lines(file->text).size() > kLinesFree) continue;
    findings.push_back({std::string(kLongFiles), entry.line, "length",
                        entry.path + " is not over 400 lines (any more): remove the entry"});
  }
  for (const SourceFile& file : tree.files) {
    if (!is_source(file.path)) continue;
    const std::size_t lines = split_lines(file.text).size();
    std::size_t allowed = kLinesFree;
    for (const LongFile& entry : entries) {
      if (entry.path == file.path) allowed = entry.lines_max;
    }
    if (lines > kLinesMax) {
      findings.push_back({file.path, static_cast<int>(lines), "length",
                          std::to_string(lines) + " lines: nothing is over 1000, split it"});
    } else if (lines > allowed) {
      findings.push_back({file.path, static_cast<int>(lines), "length",
                          std::to_string(lines) + " lines, " + std::to_string(allowed) +
                              " allowed: split it, or say why not in " + std::string(kLongFiles)});
    }
  }
  return findings;
}

}  // namespace outlast::tidy
