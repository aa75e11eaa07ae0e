#include "trainers/census/census_encoding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "trainers/census/adult.h"

namespace outlast::trainers {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

struct WordCount {
  std::uint64_t people = 0;
  std::uint64_t earn_more = 0;
};

// Whether fewer earn more. One in four of one more person is counted in, so that a word of a single
// person does not stand at an end of the order; in whole numbers, which are the same everywhere.
bool earns_less(const WordCount& left, const WordCount& right) {
  return (4 * left.earn_more + 1) * (right.people + 1) <
         (4 * right.earn_more + 1) * (left.people + 1);
}

// For each of the table's words the number that stands for it.
std::vector<float> numbers_of(const std::vector<std::string>& table_words,
                              const std::vector<std::string>& encoding_words) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t place = 0; place < encoding_words.size(); ++place) {
    places.emplace(encoding_words[place], place);
  }
  std::vector<float> numbers;
  for (const std::string& word : table_words) {
    const auto found = places.find(word);
    numbers.push_back(found == places.end() ? kMissing : static_cast<float>(found->second));
  }
  return numbers;
}

}  // namespace

CensusEncoding learn_census_encoding(const CensusTable& table,
                                     std::span<const std::uint32_t> rows) {
  CensusEncoding encoding;
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    if (census_columns()[column].is_number) continue;
    const CensusTable::Values& values = table.columns[column];
    std::vector<WordCount> counts(values.words.size());
    for (const std::uint32_t row : rows) {
      WordCount& count = counts[values.codes[row]];
      ++count.people;
      count.earn_more += table.earns_more[row];
    }
    std::vector<std::size_t> order;
    for (std::size_t code = 0; code < counts.size(); ++code) {
      if (counts[code].people > 0) order.push_back(code);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
      if (earns_less(counts[left], counts[right])) return true;
      return !earns_less(counts[right], counts[left]) && left < right;
    });
    for (const std::size_t code : order) encoding.words[column].push_back(values.words[code]);
  }
  return encoding;
}

std::vector<float> encode_census(const CensusEncoding& encoding, const CensusTable& table,
                                 std::span<const std::uint32_t> rows) {
  std::vector<float> encoded(rows.size() * kCensusColumns);
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    const CensusTable::Values& values = table.columns[column];
    const bool is_number = census_columns()[column].is_number;
    const std::vector<float> numbers = numbers_of(values.words, encoding.words[column]);
    float* place = encoded.data() + column;
    for (const std::uint32_t row : rows) {
      *place = is_number ? values.numbers[row] : numbers[values.codes[row]];
      place += kCensusColumns;
    }
  }
  return encoded;
}

std::vector<float> census_labels(const CensusTable& table, std::span<const std::uint32_t> rows) {
  std::vector<float> labels;
  labels.reserve(rows.size());
  for (const std::uint32_t row : rows) labels.push_back(table.earns_more[row]);
  return labels;
}

std::vector<std::uint32_t> census_rows(const CensusTable& table) {
  std::vector<std::uint32_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

std::string to_text(const CensusEncoding& encoding) {
  Json json = Json::object();
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    if (census_columns()[column].is_number) continue;
    json[std::string(census_columns()[column].name)] = encoding.words[column];
  }
  return canonical_json(json);
}

Result<CensusEncoding> parse_census_encoding(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text));
  CensusEncoding encoding;
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    const auto& [name, is_number] = census_columns()[column];
    if (is_number) continue;
    const auto words = json.find(name);
    bool is_right = words != json.end() && words->is_array();
    for (std::size_t i = 0; is_right && i < words->size(); ++i) {
      is_right = (*words)[i].is_string();
      if (is_right) encoding.words[column].push_back((*words)[i].get<std::string>());
    }
    if (!is_right) {
      return Error(ErrorCode::kCorrupt,
                   "no list of words for column " + std::string(name) + " in the encoding");
    }
  }
  return encoding;
}

}  // namespace outlast::trainers
