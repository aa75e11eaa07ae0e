#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::trainers {

// Texts with a class each, all in memory. A value.
struct TextSet {
  std::vector<std::string> texts = {};
  std::vector<std::uint16_t> labels = {};  // each below class_count
  std::size_t class_count = 0;
};

struct TextData {
  TextSet train = {};
  TextSet test = {};
  bool synthetic = false;  // made up: an accuracy on it says nothing about the real data
  std::string from = {};   // the folder, or how it was made up: for messages
};

inline constexpr std::uint32_t kTextClassesMax = 1000;

// A CSV text with a class for each row, in one of three forms that its first row tells apart:
//   a header that has the columns "text" and "label", in any order, others are ignored; labels
//     count from 0
//   two columns without a header: text, label, counted from 0
//   three columns without a header: label, title, description, as AG's corpus comes; labels count
//     from 1, and the text is title, blank, description
// class_count is one more than the largest label. kCorrupt with row and column for a row of another
// form, or a label that is no number below kTextClassesMax. `name` is the file's, for errors.
Result<TextSet> parse_text_csv(std::string_view text, const std::string& name);

// train.csv and test.csv in `folder`; both get the larger class_count. kNotFound names the files
// that belong there.
Result<TextData> read_text_folder(sys::FileSystem& files, const std::string& folder);

}  // namespace outlast::trainers
