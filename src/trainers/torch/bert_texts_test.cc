#include "trainers/torch/bert_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program/testing/program_runner.h"

namespace outlast::trainers {
namespace {

const std::string kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nrain\nsoup\nhot\n##ter\n";

// What becomes of a folder with these texts on a simulated machine.
class Folder {
 public:
  Folder() {
    runner_.add_file("/train.csv", "hot rain,0\nHotter soup,1\nsnow,1\n");
    runner_.add_file("/test.csv", "rain rain rain rain,0\n");
    runner_.add_file("/class.txt", "weather\nkitchen\n");
  }
  void add_file(const std::string& path, const std::string& content) {
    runner_.add_file(path, content);
  }
  Result<BertTexts> read(const BertTextOptions& options) {
    Result<BertTexts> texts = Error(ErrorCode::kFailed, "not run");
    runner_.run_body([&](sys::World& world) { texts = read_bert_texts(world, options); });
    return texts;
  }

 private:
  cli::testing::ProgramRunner runner_;
};

std::vector<std::int32_t> text(const TokenSet& set, std::size_t number) {
  const auto tokens = set.text(number);
  return {tokens.begin(), tokens.end()};
}

TEST(BertTexts, AreTokensBetweenTheirMarksWithoutPadding) {
  Folder folder;
  folder.add_file("/vocab.txt", kVocabulary);
  const auto texts = folder.read({.data = "/", .length_max = 5});
  ASSERT_TRUE(texts) << texts.error().to_string();
  EXPECT_EQ(texts->classes, 2U);
  EXPECT_EQ(texts->vocabulary, 8U);
  EXPECT_EQ(texts->labels, (std::vector<std::string>{"weather", "kitchen"}));
  ASSERT_EQ(texts->sets.train.size(), 3U);
  EXPECT_EQ(text(texts->sets.train, 0), (std::vector<std::int32_t>{2, 6, 4, 3}));
  EXPECT_EQ(text(texts->sets.train, 2), (std::vector<std::int32_t>{2, 1, 3}));
  EXPECT_EQ(texts->sets.train.labels, (std::vector<std::uint16_t>{0, 1, 1}));
  // Cut to five, of which two are marks.
  EXPECT_EQ(text(texts->sets.test, 0), (std::vector<std::int32_t>{2, 4, 4, 4, 3}));
}

TEST(BertTexts, AVocabularyThatIsMissingIsNamed) {
  Folder folder;
  const auto texts = folder.read({.data = "/"});
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(texts.error().sentence(),
            "there is no /vocab.txt: put the vocabulary of the model there, or name it with "
            "--vocab");
}

TEST(BertTexts, LinesOfAFileAreAskedInsteadOfTheTestSet) {
  Folder folder;
  folder.add_file("/words", kVocabulary);
  folder.add_file("/input", "soup\r\n\nrain");
  const auto texts =
      folder.read({.data = "/", .vocabulary = "/words", .input = "/input", .mode = Mode::kPredict});
  ASSERT_TRUE(texts) << texts.error().to_string();
  ASSERT_EQ(texts->sets.asked.size(), 3U);
  EXPECT_EQ(text(texts->sets.asked, 0), (std::vector<std::int32_t>{2, 5, 3}));
  EXPECT_EQ(text(texts->sets.asked, 1), (std::vector<std::int32_t>{2, 3}));
  EXPECT_TRUE(texts->sets.asked.labels.empty());
  EXPECT_EQ(texts->sets.train.size(), 0U);
}

TEST(BertTexts, MadeUpTextsAreTheSameByAnyNumberOfThreads) {
  Folder alone;
  Folder together;
  const auto one = alone.read({.data = "synthetic", .seed = 3, .threads = 1});
  const auto four = together.read({.data = "synthetic", .seed = 3, .threads = 4});
  ASSERT_TRUE(one) << one.error().to_string();
  ASSERT_TRUE(four) << four.error().to_string();
  EXPECT_EQ(one->classes, 4U);
  EXPECT_EQ(one->sets.train.texts.tokens, four->sets.train.texts.tokens);
  EXPECT_EQ(one->sets.train.texts.begins, four->sets.train.texts.begins);
}

}  // namespace
}  // namespace outlast::trainers
