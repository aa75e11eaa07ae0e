#include "trainer_files/row_patterns.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer_files/layout_table.h"
#include "trainer_files/name_pattern.h"

namespace outlast::trainer_files {

std::optional<NameFacts> match_row(const Layout& row, std::string_view name) {
  for (const std::string_view pattern : row.names) {
    if (auto facts = match_name(pattern, name)) {
      merge_facts(facts_in_name(name), *facts);
      return facts;
    }
  }
  return std::nullopt;
}

bool is_no_checkpoint(std::string_view name) {
  static const NamePatterns patterns = [] {
    std::vector<std::string_view> names;
    for (const NoCheckpoint& row : no_checkpoint_table()) names.push_back(row.name);
    return NamePatterns(std::move(names));
  }();
  return patterns.first_match(name).has_value();
}

RowPatterns::RowPatterns(const std::vector<std::string_view> Layout::* member, Shape shape)
    : patterns_(collect(member, shape)) {}

NamePatterns RowPatterns::collect(const std::vector<std::string_view> Layout::* member,
                                  Shape shape) {
  std::vector<std::string_view> all;
  for (const Layout& row : layout_table()) {
    if (row.shape != shape) continue;
    for (const std::string_view pattern : row.*member) {
      all.push_back(pattern);
      rows_.push_back(&row);
    }
  }
  return NamePatterns(std::move(all));
}

std::optional<RowPatterns::Match> RowPatterns::first_match(std::string_view name) const {
  std::optional<NamePatterns::Match> match = patterns_.first_match(name);
  if (!match) return std::nullopt;
  merge_facts(facts_in_name(name), match->facts);
  return Match{rows_[match->index], std::move(match->facts)};
}

std::vector<const Layout*> RowPatterns::all_matches(std::string_view name) const {
  std::vector<const Layout*> matches;
  for (const std::size_t i : patterns_.all_matches(name)) matches.push_back(rows_[i]);
  return matches;
}

}  // namespace outlast::trainer_files
