#include "trainers/text/wordpiece.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/posix_world.h"
#include "trainers/data/synthetic.h"
#include "trainers/text/characters.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kSmall =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\nwant\n##ed\n,\n!\nrunn\n##ing\n[\n]"
    "\nsep\n中\na\n##a\n";

WordPiece small() {
  return WordPiece::parse(kSmall, "v").value();
}

std::string tokens_of(const WordPiece& pieces, std::string_view text) {
  std::string joined;
  for (const std::int32_t id : pieces.tokenize(text)) {
    joined += (joined.empty() ? "" : " ") + pieces.token(id);
  }
  return joined;
}

TEST(WordPiece, TakesTheLongestPiecesThatThereAre) {
  const WordPiece pieces = small();
  EXPECT_EQ(tokens_of(pieces, "UNaff\u00E1ble,running"), "un ##aff ##able , runn ##ing");
  EXPECT_EQ(tokens_of(pieces, "unaffable"), "un ##aff ##able");
  EXPECT_EQ(tokens_of(pieces, "  wanted !\t!"), "want ##ed ! !");
  EXPECT_EQ(tokens_of(pieces, "unwant"), "[UNK]");
  EXPECT_EQ(tokens_of(pieces, "\u4E2D\u4E2Da"), "中 中 a");
  EXPECT_EQ(tokens_of(pieces, "[SEP]"), "[ sep ]");
  EXPECT_EQ(tokens_of(pieces, ""), "");
  EXPECT_EQ(pieces.tokenize(std::string(100, 'a')).size(), 100U);
  EXPECT_EQ(tokens_of(pieces, std::string(101, 'a')), "[UNK]");
}

TEST(WordPiece, CutsOffAndFillsUp) {
  const WordPiece pieces = small();
  EXPECT_EQ(pieces.encode("wanted", 6).ids, (std::vector<std::int32_t>{2, 7, 8, 3, 0, 0}));
  EXPECT_EQ(pieces.encode("wanted", 6).mask, (std::vector<std::int32_t>{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(pieces.encode("wanted", 3).ids, (std::vector<std::int32_t>{2, 7, 3}));
  EXPECT_EQ(pieces.encode("wanted", 2).ids, (std::vector<std::int32_t>{2, 3}));
}

TEST(WordPiece, NeedsItsSpecialTokens) {
  EXPECT_EQ(WordPiece::parse("[PAD]\n[UNK]\n[CLS]\n", "v.txt").error().to_string(),
            "the vocabulary v.txt lacks [SEP]: take the vocab.txt of a BERT model, one token to a "
            "line");
  EXPECT_EQ(WordPiece::parse("a\nb\na\n", "v.txt").error().to_string(),
            "line 3 of the vocabulary v.txt has 'a' a second time: take the model's own vocab.txt");
  EXPECT_EQ(WordPiece::parse("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n", "v").value().token(3),
            "[SEP]");
}

TEST(WordPiece, KnowsEveryMadeUpWord) {
  const WordPiece pieces = WordPiece::parse(synthetic_vocabulary(), "made up").value();
  for (const std::string& text :
       synthetic_texts({.train_count = 200, .test_count = 0}).train.texts) {
    const std::vector<std::int32_t> ids = pieces.tokenize(text);
    EXPECT_EQ(std::ranges::count(ids, 1), 0) << text;
    EXPECT_EQ(ids.size(), 2U + static_cast<std::size_t>(std::ranges::count(text, ' ') +
                                                        std::ranges::count(text, ',')));
  }
}

// Known ids of the published vocabulary.
TEST(WordPiece, AgreesWithBertOnItsOwnVocabulary) {
  const char* const path = std::getenv("OUTLAST_BERT_VOCABULARY");
  if (path == nullptr) {
    GTEST_SKIP() << "OUTLAST_BERT_VOCABULARY does not name the vocab.txt of bert-base-uncased";
  }
  sys::RealWorld real;
  const Result<WordPiece> pieces = WordPiece::read(real.world().files, path);
  ASSERT_TRUE(pieces) << pieces.error().to_string();
  EXPECT_EQ(pieces->vocabulary_size(), 30522U);
  EXPECT_EQ(pieces->encode("Hello, world!", 8).ids,
            (std::vector<std::int32_t>{101, 7592, 1010, 2088, 999, 102, 0, 0}));
  EXPECT_EQ(tokens_of(*pieces, "unaffable caf\u00E9"), "una ##ffa ##ble cafe");
}

TEST(Characters, AreCleanedAndFolded) {
  const auto clean = [](std::string_view text) { return to_utf8(normalised(text)); };
  EXPECT_EQ(clean("H\u00C9LLO \u00C5ngstr\u00F6m \u0130\u0141\u00DF"), "hello angstrom iłß");
  EXPECT_EQ(clean("e\u0301\u00A0x\u200By\x01z\t\n"), "e xyz  ");
  EXPECT_EQ(clean("\u1EA4\u03AC\u03A3\u0419\u0416"), "aασиж");
  EXPECT_EQ(clean("\uD55C"), "\u1112\u1161\u11AB");
  EXPECT_EQ(clean("a\xFF\xC3"), "a");
  EXPECT_EQ(clean("x\u4E2Dy"), "x 中 y");
  EXPECT_EQ(clean("\U0001F600"), "\U0001F600");
}

TEST(Characters, ArePunctuationOrNot) {
  for (const char32_t mark : std::u32string_view(U"!$+<=>^`|~_-\u00A1\u2014\u2019\u3002\uFF01")) {
    EXPECT_TRUE(is_punctuation(mark)) << static_cast<std::uint32_t>(mark);
  }
  for (const char32_t other : std::u32string_view(U"aZ09 \u00E9\u20AC\u00B1\u4E2D\U0001F600")) {
    EXPECT_FALSE(is_punctuation(other)) << static_cast<std::uint32_t>(other);
  }
}

}  // namespace
}  // namespace outlast::trainers
