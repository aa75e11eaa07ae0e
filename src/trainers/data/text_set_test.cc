#include "trainers/data/text_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/posix_world.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

std::string text_csv_error(std::string_view text) {
  const Result<TextSet> set = parse_text_csv(text, "t.csv");
  return set ? std::string("none") : set.error().to_string();
}

TEST(TextCsv, ComesInThreeForms) {
  for (const std::string_view text :
       {"id,Text,label\n7,\"Rain, again\",0\n8,Goal,2\n", "\"Rain, again\",0\nGoal,2\n"}) {
    const Result<TextSet> set = parse_text_csv(text, "t.csv");
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_EQ(set->texts, (std::vector<std::string>{"Rain, again", "Goal"}));
    EXPECT_EQ(set->labels, (std::vector<std::uint16_t>{0, 2}));
    EXPECT_EQ(set->class_count, 3U);
  }
  const Result<TextSet> corpus =
      parse_text_csv("\"3\",\"Title\",\"Words\"\n\"1\",\"\",\"Alone\"\n", "t.csv");
  ASSERT_TRUE(corpus) << corpus.error().to_string();
  EXPECT_EQ(corpus->texts, (std::vector<std::string>{"Title Words", "Alone"}));
  EXPECT_EQ(corpus->labels, (std::vector<std::uint16_t>{2, 0}));
}

TEST(TextCsv, SaysWhereItIsWrong) {
  EXPECT_EQ(text_csv_error(""), "t.csv has no rows");
  EXPECT_EQ(text_csv_error("text,label\n"), "t.csv has no rows but its header");
  EXPECT_TRUE(text_csv_error("a,b\n").starts_with("t.csv, row 1 (line 1), column 1: this is"));
  EXPECT_EQ(
      text_csv_error("text,label\nx,0\nx,one\n"),
      "t.csv, row 3 (line 3), column 2: 'one' is no label: it must be a number from 0 to 999");
  EXPECT_EQ(text_csv_error("1,a,b\n0,a,b\n"),
            "t.csv, row 2 (line 2), column 1: '0' is no label: it must be a number from 1 to 1000");
  EXPECT_EQ(text_csv_error("a,0\nb,1,2\n"),
            "t.csv, row 2 (line 2), column 3: the row ends here, after 3 fields instead of 2");
}

TEST(TextFolder, GivesBothHalvesTheSameClasses) {
  with_data_folder([](const DataFolder& folder) {
    EXPECT_EQ(read_text_folder(folder.world.files, folder.path).error().code(),
              ErrorCode::kNotFound);
    folder.write("train.csv", "a,0\nb,3\n");
    folder.write("test.csv", "c,1\n");
    const TextData data = read_text_folder(folder.world.files, folder.path).value();
    EXPECT_EQ(data.train.class_count, 4U);
    EXPECT_EQ(data.test.class_count, 4U);
    EXPECT_EQ(data.test.texts, (std::vector<std::string>{"c"}));
  });
}

}  // namespace
}  // namespace outlast::trainers
