#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

// The rules of the house that a compiler does not know, as a test. Each rule looks at the whole
// tree and returns what breaks it; tidy_test.cc wants nothing back for the real tree, and exactly
// the planted fault for each of many small broken ones. Exceptions are lines in allow.txt and
// long_files.txt, where a reviewer sees them, each with its reason.
namespace outlast::tidy {

struct Finding {
  std::string file;
  int line = 0;
  std::string rule;  // what allow.txt calls it
  std::string text;  // what is wrong, and what to do
  friend bool operator==(const Finding&, const Finding&) = default;
};
// "src/job/spec.cc:12: text [rule]"
std::string to_string(const Finding& finding);

// One text file. Paths are relative to the root of the tree, with "/".
struct SourceFile {
  std::string path;
  std::string text;
  // C++ only: the text with comments and the insides of literals replaced by spaces, so that every
  // character keeps its place.
  std::string code;
};

struct Tree {
  std::vector<SourceFile> files;  // sorted by path; no binary files
  std::set<std::string> paths;    // of all files and folders, binary ones too

  void add(std::string path, std::string text);
  const SourceFile* find(std::string_view path) const;
};

// Everything under `root` except what is built (build/), stored (outlast-root/) or hidden state of
// tools (.git, .cache). A file with a NUL byte is binary: its path only.
Tree load_tree(const std::string& root);

// Comments and the insides of string and character literals become spaces; line ends stay.
std::string strip_cpp(std::string_view text);
// The text without its last line end, cut at line ends.
std::vector<std::string_view> split_lines(std::string_view text);
// Which line, from 1, the character at `offset` is on.
int line_at(std::string_view text, std::size_t offset);
bool is_identifier_char(char c);
bool is_cpp(std::string_view path);
// *_test.cc, and what lies in tests/ or in a testing/ folder.
bool is_test_code(std::string_view path);

// A line of allow.txt or long_files.txt: a path, a word about it, and a reason.
struct Exception {
  std::string path;
  std::string word;
  int line = 0;
};
// The lines of such a list. Empty lines and those that begin with "#" are none; a line with fewer
// than three words is a finding under `rule` that says to write `form`.
std::vector<Exception> read_exceptions(const Tree& tree, std::string_view list,
                                       std::string_view rule, std::string_view form,
                                       std::vector<Finding>& findings);

// What touches the world, or chance, or other threads, outside the files that may.
std::vector<Finding> check_words(const Tree& tree);
// #include lines against src/dependencies.txt; own header first; rooted at src/; #pragma once;
// libraries only where they are confined to.
std::vector<Finding> check_includes(const Tree& tree);
// White space, line ends, notes to self; links in documents that lead nowhere.
std::vector<Finding> check_texts(const Tree& tree);
// Files over 400 lines need a line in tests/tidy/long_files.txt; over 1000 nothing helps.
std::vector<Finding> check_lengths(const Tree& tree);
// Every source under src/ is named in the CMakeLists.txt of its module: a forgotten test never
// runs.
std::vector<Finding> check_listed(const Tree& tree);

// All of the above, less what tests/tidy/allow.txt allows, plus its lines that allow nothing.
// Sorted by file and line.
std::vector<Finding> check_tree(const Tree& tree);

}  // namespace outlast::tidy
