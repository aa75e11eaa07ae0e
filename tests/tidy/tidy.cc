#include "tests/tidy/tidy.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace outlast::tidy {
namespace {

constexpr std::string_view kAllowList = "tests/tidy/allow.txt";

struct Allowed {
  std::string path;
  std::string rule;
  int line = 0;  // of allow.txt
  bool used = false;
};

std::vector<Allowed> read_allow_list(const Tree& tree, std::vector<Finding>& findings) {
  std::vector<Allowed> entries;
  const SourceFile* list = tree.find(kAllowList);
  if (list == nullptr) return entries;
  int number = 0;
  for (const std::string_view line : split_lines(list->text)) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words{std::string(line)};
    Allowed entry{.path = "", .rule = "", .line = number, .used = false};
    std::string reason;
    if (words >> entry.path >> entry.rule >> reason) {
      entries.push_back(entry);
    } else {
      findings.push_back(
          {std::string(kAllowList), number, "allow", "write: path, rule, and the reason"});
    }
  }
  return entries;
}

}  // namespace

std::vector<Finding> check_tree(const Tree& tree) {
  std::vector<Finding> found;
  for (const auto check : {check_words, check_includes, check_texts, check_lengths, check_listed}) {
    std::ranges::move(check(tree), std::back_inserter(found));
  }
  std::vector<Finding> findings;
  std::vector<Allowed> allowed = read_allow_list(tree, findings);
  for (Finding& finding : found) {
    const auto entry = std::find_if(allowed.begin(), allowed.end(), [&](const Allowed& a) {
      return a.path == finding.file && a.rule == finding.rule;
    });
    if (entry == allowed.end()) {
      findings.push_back(std::move(finding));
    } else {
      entry->used = true;
    }
  }
  for (const Allowed& entry : allowed) {
    if (entry.used) continue;
    findings.push_back(
        {std::string(kAllowList), entry.line, "allow",
         "nothing in " + entry.path + " breaks '" + entry.rule + "' (any more): remove the entry"});
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line, a.text) < std::tie(b.file, b.line, b.text);
  });
  return findings;
}

}  // namespace outlast::tidy
