#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/random.h"
#include "trainers/census/adult.h"

namespace outlast::trainers {
namespace {

constexpr std::array<std::string_view, 4> kWork = {"?", "Own-firm", "Private", "State"};
constexpr std::array<std::string_view, 8> kEducation = {
    "Apprentice", "Bachelor", "Doctor", "Grammar", "Master", "Nothing", "School", "Trade"};
constexpr std::array<std::string_view, 3> kMarriage = {"Divorced", "Married", "Single"};
constexpr std::array<std::string_view, 6> kTrade = {"?",    "Clerk", "Farmer",
                                                    "Head", "Smith", "Teacher"};
constexpr std::array<std::string_view, 3> kRelation = {"Alone", "Parent", "Spouse"};
constexpr std::array<std::string_view, 3> kGroup = {"Blue", "Green", "Red"};
constexpr std::array<std::string_view, 2> kSex = {"Female", "Male"};
constexpr std::array<std::string_view, 5> kCountry = {"?", "Eastland", "Northland", "Southland",
                                                      "Westland"};

std::span<const std::string_view> words_of(std::size_t column) {
  switch (column) {
    case 1:
      return kWork;
    case 3:
      return kEducation;
    case 5:
      return kMarriage;
    case 6:
      return kTrade;
    case 7:
      return kRelation;
    case 8:
      return kGroup;
    case 9:
      return kSex;
    case 13:
      return kCountry;
    default:
      return {};
  }
}

// How much each education, in the order above, is worth.
constexpr std::array<std::int64_t, 8> kWorth = {7, 12, 16, 4, 14, 1, 9, 10};

struct MadeUpPerson {
  std::array<float, kCensusColumns> numbers = {};
  std::array<std::uint32_t, kCensusColumns> codes = {};
  bool earns_more = false;
};

MadeUpPerson made_up_person(Random& random) {
  MadeUpPerson person;
  const auto number = [&](std::size_t column, std::int64_t value) {
    person.numbers[column] = static_cast<float>(value);
    return value;
  };
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    const std::size_t words = words_of(column).size();
    if (words > 0) person.codes[column] = static_cast<std::uint32_t>(random.below(words));
  }
  const std::int64_t age = number(0, random.between(17, 90));
  number(2, random.between(10'000, 900'000));
  const std::int64_t worth = kWorth.at(person.codes[3]);
  number(4, worth);
  const std::int64_t gain = number(10, random.chance(0.1) ? random.between(100, 20'000) : 0);
  number(11, random.chance(0.05) ? random.between(100, 3'000) : 0);
  const std::int64_t hours = number(12, random.between(10, 80));
  const std::int64_t best_age = 25 - std::min<std::int64_t>(age > 50 ? age - 50 : 50 - age, 25);
  const std::int64_t married = kMarriage.at(person.codes[5]) == "Married" ? 30 : 0;
  const std::int64_t fortune = worth * 5 + best_age * 2 + hours / 2 + married + gain / 200;
  person.earns_more = fortune > 135;
  if (random.chance(0.1)) person.earns_more = !person.earns_more;
  return person;
}

CensusTable made_up_table(Random random, std::size_t rows) {
  CensusTable table;
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    const std::span<const std::string_view> words = words_of(column);
    OUTLAST_CHECK(words.empty() == census_columns()[column].is_number, "column {}", column);
    table.columns[column].words.assign(words.begin(), words.end());
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const MadeUpPerson person = made_up_person(random);
    for (std::size_t column = 0; column < kCensusColumns; ++column) {
      CensusTable::Values& values = table.columns[column];
      if (values.words.empty()) {
        values.numbers.push_back(person.numbers[column]);
      } else {
        values.codes.push_back(person.codes[column]);
      }
    }
    table.earns_more.push_back(person.earns_more ? 1 : 0);
  }
  return table;
}

}  // namespace

CensusData synthetic_census(const SyntheticCensus& wanted) {
  Random random(wanted.seed);
  CensusData data;
  data.train = made_up_table(random.fork(), wanted.rows);
  data.test = made_up_table(random.fork(), wanted.rows / 2);
  data.from = "made-up people";
  return data;
}

}  // namespace outlast::trainers
