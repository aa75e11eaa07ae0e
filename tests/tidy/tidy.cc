#include "tests/tidy/tidy.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace outlast::tidy {
namespace {

constexpr std::string_view kAllowList = "tests/tidy/allow.txt";

}  // namespace

std::vector<Finding> check_tree(const Tree& tree) {
  std::vector<Finding> found;
  for (const auto check : {check_words, check_includes, check_texts, check_lengths, check_listed}) {
    std::ranges::move(check(tree), std::back_inserter(found));
  }
  std::vector<Finding> findings;
  const std::vector<Exception> allowed =
      read_exceptions(tree, kAllowList, "allow", "write: path, rule, and the reason", findings);
  std::vector<bool> used(allowed.size());
  for (Finding& finding : found) {
    const auto entry = std::ranges::find_if(allowed, [&](const Exception& a) {
      return a.path == finding.file && a.word == finding.rule;
    });
    if (entry == allowed.end()) {
      findings.push_back(std::move(finding));
    } else {
      used[static_cast<std::size_t>(entry - allowed.begin())] = true;
    }
  }
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (used[i]) continue;
    findings.push_back({std::string(kAllowList), allowed[i].line, "allow",
                        "nothing in " + allowed[i].path + " breaks '" + allowed[i].word +
                            "' (any more): remove the entry"});
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line, a.text) < std::tie(b.file, b.line, b.text);
  });
  return findings;
}

}  // namespace outlast::tidy
