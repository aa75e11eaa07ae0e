#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

constexpr std::string_view kTable = "src/dependencies.txt";

// module -> the modules it may include, as dependencies.txt says.
using Table = std::map<std::string, std::set<std::string>, std::less<>>;

struct Include {
  std::string path;
  bool quoted = false;
  int line = 0;
};

// A library that only some files may include, and why. A place is a folder with its "/", a file, or
// "*" and how the path ends.
struct Library {
  std::string_view header;  // how the include path begins
  std::vector<std::string_view> places;
  std::string_view why;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = {
      {"CLI/", {"src/cli/program/parse.cc"}, "it costs 4 s a file"},
      {"yaml.h", {"src/base/yaml.cc", "bench/"}, "everyone else reads YAML through base/yaml.h"},
      {"isa-l",
       {"src/base/hash.cc", "bench/"},
       "everyone else calls crc32c() or crc32() of base/hash.h"},
      {"openssl/",
       {"src/base/hash.cc", "src/base/rsa.cc", "bench/"},
       "everyone else calls base/hash.h or base/rsa.h"},
      {"boost/",
       {"src/sys/posix_http_server.cc"},
       "it costs 6 s a file; everyone else takes sys::HttpServers"},
      {"pugixml.hpp", {"src/cloud/xml.cc"}, "everyone else reads XML through cloud/xml.h"},
      {"torch/", {"src/trainers/"}, "only the trainers link libtorch"},
      {"ATen/", {"src/trainers/"}, "only the trainers link libtorch"},
      {"c10/", {"src/trainers/"}, "only the trainers link libtorch"},
      {"xgboost/", {"src/trainers/"}, "only the trainers link XGBoost"},
      {"nlohmann/json.hpp",
       {"*.cc", "/testing/"},
       "headers take base/json.h, which only declares it"},
      {"gtest/", {"*_test.cc", "/testing/", "tests/"}, "the product does not link it"},
      {"gmock/", {"*_test.cc", "/testing/", "tests/"}, "the product does not link it"},
      {"rapidcheck", {"*_test.cc", "/testing/", "tests/"}, "the product does not link it"},
      {"regex", {}, "it is slow to compile and to run"},
  };
  return kLibraries;
}

bool is_place(std::string_view place, std::string_view path) {
  if (place.starts_with('*')) return path.ends_with(place.substr(1));
  if (place.starts_with('/')) return path.find(place) != std::string_view::npos;
  return place.ends_with('/') ? path.starts_with(place) : path == place;
}

Table read_table(const Tree& tree) {
  Table table;
  const SourceFile* file = tree.find(kTable);
  if (file == nullptr) return table;
  for (const std::string_view line : split_lines(file->text)) {
    const std::size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    std::set<std::string>& allowed = table[std::string(line.substr(0, colon))];
    for (std::size_t at = colon + 1; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      if (end > at) allowed.insert(std::string(line.substr(at, end - at)));
      at = end + 1;
    }
  }
  return table;
}

// The module that `path`, relative to src/, belongs to: the longest that is a folder above it.
std::string module_of(const Table& table, std::string_view path) {
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (table.contains(path.substr(0, slash))) return std::string(path.substr(0, slash));
  }
  return "";
}

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  const auto code = split_lines(file.code);
  const auto text = split_lines(file.text);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code[i].starts_with("#include")) continue;
    const std::size_t open = text[i].find_first_of("<\"");
    if (open == std::string_view::npos) continue;
    const std::size_t close = text[i].find_first_of(">\"", open + 1);
    if (close == std::string_view::npos) continue;
    includes.push_back({std::string(text[i].substr(open + 1, close - open - 1)),
                        text[i][open] == '"', static_cast<int>(i) + 1});
  }
  return includes;
}

// Tests also use the simulator, what it stands on, and the fakes of other modules.
bool may_include(const Table& table, const SourceFile& file, const std::string& from,
                 const std::string& to, std::string_view included) {
  if (from == to || table.at(from).contains(to)) return true;
  if (!is_test_code(file.path)) return false;
  if (included.find("/testing/") != std::string_view::npos) return true;
  const auto sim = table.find("sim");
  return sim != table.end() && (to == "sim" || sim->second.contains(to));
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// Product code names every header from src/ down. Tests and benchmarks may also name a neighbour.
void check_direction(const Tree& tree, const Table& table, const SourceFile& file,
                     const Include& include, std::vector<Finding>& findings) {
  const bool rooted = tree.paths.contains("src/" + include.path) ||
                      (!file.path.starts_with("src/") &&
                       (tree.paths.contains(include.path) ||
                        tree.paths.contains(folder_of(file.path) + include.path)));
  if (!rooted) {
    findings.push_back(
        {file.path, include.line, "include-root",
         "\"" + include.path + "\" is no file of src/: write the whole path below src/"});
    return;
  }
  if (!file.path.starts_with("src/")) return;  // apps, tests and benchmarks may use everything
  const std::string from = module_of(table, std::string_view(file.path).substr(4));
  const std::string to = module_of(table, include.path);
  if (from.empty() || to.empty()) {
    findings.push_back({file.path, include.line, "include-direction",
                        "the module of " + (from.empty() ? file.path : include.path) +
                            " has no row in " + std::string(kTable) + ": add one"});
  } else if (!may_include(table, file, from, to, include.path)) {
    findings.push_back({file.path, include.line, "include-direction",
                        from + " may not include " + to + ": see " + std::string(kTable)});
  }
}

void check_libraries(const SourceFile& file, const Include& include,
                     std::vector<Finding>& findings) {
  for (const Library& library : libraries()) {
    if (!include.path.starts_with(library.header)) continue;
    const bool allowed =
        std::any_of(library.places.begin(), library.places.end(),
                    [&](std::string_view place) { return is_place(place, file.path); });
    if (!allowed) {
      findings.push_back(
          {file.path, include.line, "library",
           "<" + include.path + "> does not belong here: " + std::string(library.why)});
    }
  }
}

// foo.cc and foo_test.cc include foo.h before anything else, if there is one: that proves it whole.
void check_own_header(const Tree& tree, const SourceFile& file,
                      const std::vector<Include>& includes, std::vector<Finding>& findings) {
  if (!file.path.ends_with(".cc") || !file.path.starts_with("src/")) return;
  std::string stem = file.path.substr(0, file.path.size() - 3);
  if (stem.ends_with("_test")) stem.resize(stem.size() - 5);
  const std::string own = stem.substr(4) + ".h";
  if (!tree.paths.contains("src/" + own)) return;
  if (includes.empty() || includes.front().path != own) {
    findings.push_back({file.path, includes.empty() ? 1 : includes.front().line, "own-header",
                        "\"" + own + "\" must be the first include"});
  }
}

void check_pragma_once(const SourceFile& file, std::vector<Finding>& findings) {
  if (!file.path.ends_with(".h")) return;
  for (const std::string_view line : split_lines(file.code)) {
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    if (line.starts_with("#pragma once")) return;
    break;
  }
  findings.push_back({file.path, 1, "pragma-once", "a header starts with #pragma once"});
}

}  // namespace

std::vector<Finding> check_includes(const Tree& tree) {
  const Table table = read_table(tree);
  std::vector<Finding> findings;
  for (const SourceFile& file : tree.files) {
    if (!is_cpp(file.path)) continue;
    const std::vector<Include> includes = includes_of(file);
    check_pragma_once(file, findings);
    check_own_header(tree, file, includes, findings);
    for (const Include& include : includes) {
      if (include.quoted) check_direction(tree, table, file, include, findings);
      check_libraries(file, include, findings);
    }
  }
  return findings;
}

}  // namespace outlast::tidy
