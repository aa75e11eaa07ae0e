#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

constexpr std::array<std::string_view, 5> kSkippedFolders = {".git", "build", "outlast-root",
                                                             ".cache", "__pycache__"};

// Walks over C++ text once, blanking what is not code. Knows just enough: comments, literals with
// their prefixes, raw strings, and that the ' in 1'000 starts no character.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text), code_(text) {}

  std::string run() && {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_line_comment();
      } else if (starts("/*")) {
        blank_until(std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2);
      } else if (text_[at_] == '"') {
        starts_raw_string() ? blank_raw_string() : blank_literal('"');
      } else if (text_[at_] == '\'' && !is_digit_separator()) {
        blank_literal('\'');
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  std::string_view word_before() const {
    std::size_t begin = at_;
    while (begin > 0 && is_identifier_char(text_[begin - 1])) --begin;
    return text_.substr(begin, at_ - begin);
  }

  bool is_digit_separator() const {
    const std::string_view word = word_before();
    return !word.empty() && word.front() >= '0' && word.front() <= '9';
  }

  bool starts_raw_string() const {
    const std::string_view word = word_before();
    return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
  }

  void blank_until(std::size_t end) {
    for (; at_ < end && at_ < text_.size(); ++at_) {
      if (text_[at_] != '\n') code_[at_] = ' ';
    }
  }

  void blank_line_comment() {
    std::size_t end = at_;
    do {
      end = std::min(text_.find('\n', end + 1), text_.size());
    } while (end < text_.size() && text_[end - 1] == '\\');
    blank_until(end);
  }

  // Keeps the quotes. A literal never spans lines, so a lone quote costs one line at most.
  void blank_literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    ++at_;
    blank_until(end);
    at_ = std::min(end + 1, text_.size());
  }

  void blank_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    std::string close = ")";
    close += text_.substr(at_ + 1, open - at_ - 1);
    close += '"';
    const std::size_t end = std::min(text_.find(close, open), text_.size());
    ++at_;
    blank_until(end + close.size() - 1);
    ++at_;
  }

  std::string_view text_;
  std::string code_;
  std::size_t at_ = 0;
};

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string to_string(const Finding& finding) {
  return finding.file + ":" + std::to_string(finding.line) + ": " + finding.text + " [" +
         finding.rule + "]";
}

void Tree::add(std::string path, std::string text) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    paths.insert(path.substr(0, slash));
  }
  paths.insert(path);
  if (text.find('\0') != std::string::npos) return;
  std::string code = is_cpp(path) ? strip_cpp(text) : std::string();
  const auto place = std::find_if(files.begin(), files.end(),
                                  [&](const SourceFile& file) { return file.path > path; });
  files.insert(place, {std::move(path), std::move(text), std::move(code)});
}

const SourceFile* Tree::find(std::string_view path) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const SourceFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

Tree load_tree(const std::string& root) {
  namespace fs = std::filesystem;
  Tree tree;
  for (auto at = fs::recursive_directory_iterator(root); at != fs::recursive_directory_iterator();
       ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory()) {
      const bool skipped =
          std::find(kSkippedFolders.begin(), kSkippedFolders.end(), name) != kSkippedFolders.end();
      if (skipped) at.disable_recursion_pending();
    } else if (at->is_regular_file() && !name.ends_with(".swp")) {
      tree.add(fs::relative(at->path(), root).generic_string(), read_whole(at->path()));
    }
  }
  return tree;
}

std::string strip_cpp(std::string_view text) {
  return Stripper(text).run();
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

int line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_cpp(std::string_view path) {
  return path.ends_with(".cc") || path.ends_with(".h");
}

bool is_test_code(std::string_view path) {
  return path.ends_with("_test.cc") || path.starts_with("tests/") ||
         path.find("/testing/") != std::string_view::npos;
}

std::vector<Exception> read_exceptions(const Tree& tree, std::string_view list,
                                       std::string_view rule, std::string_view form,
                                       std::vector<Finding>& findings) {
  std::vector<Exception> exceptions;
  const SourceFile* file = tree.find(list);
  if (file == nullptr) return exceptions;
  int number = 0;
  for (const std::string_view line : split_lines(file->text)) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words{std::string(line)};
    Exception exception{.path = "", .word = "", .line = number};
    std::string reason;
    if (words >> exception.path >> exception.word >> reason) {
      exceptions.push_back(exception);
    } else {
      findings.push_back({std::string(list), number, std::string(rule), std::string(form)});
    }
  }
  return exceptions;
}

}  // namespace outlast::tidy
