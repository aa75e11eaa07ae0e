#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trainer_files/layout_table.h"
#include "trainer_files/name_pattern.h"

// The tables, made ready to be asked about many names.
namespace outlast::trainer_files {

// What a name tells by the first pattern of the row's names that fits, and by its "key=number"s.
std::optional<NameFacts> match_row(const Layout& row, std::string_view name);

// Whether it is the name of a row of no_checkpoint_table().
bool is_no_checkpoint(std::string_view name);

// One kind of patterns of all rows of a shape, in the order of the table. Immutable after
// construction.
class RowPatterns {
 public:
  RowPatterns(const std::vector<std::string_view> Layout::* member, Shape shape);

  struct Match {
    const Layout* row = nullptr;
    NameFacts facts = {};
  };
  // By the first pattern that fits, and the "key=number"s in the name.
  std::optional<Match> first_match(std::string_view name) const;
  // The rows of all that fit; a row may come twice.
  std::vector<const Layout*> all_matches(std::string_view name) const;

 private:
  NamePatterns collect(const std::vector<std::string_view> Layout::* member, Shape shape);

  std::vector<const Layout*> rows_;  // by the index of the pattern
  NamePatterns patterns_;
};

}  // namespace outlast::trainer_files
