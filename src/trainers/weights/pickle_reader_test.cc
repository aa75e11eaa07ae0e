#include "trainers/weights/pickle_reader.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "trainers/weights/testing/made_weights.h"

namespace outlast::trainers::testing {
namespace {
namespace pickle_reader_test {

std::string pickle_refusal(std::string_view bytes) {
  const auto pickle = read_pickle(as_bytes(bytes), 1000);
  if (pickle) return "accepted";
  EXPECT_EQ(pickle.error().code(), ErrorCode::kCorrupt);
  return pickle.error().to_string();
}

TEST(PickleReader, WhatIsNoTensorIsRefusedByName) {
  EXPECT_EQ(pickle_refusal("\x80\x02"
                           "cos\nsystem\n"),
            "this file wants Python to call os.system, which is no tensor (byte 1002)");
  EXPECT_EQ(pickle_refusal("\x80\x04\x8c\x08"
                           "builtins\x8c\x04"
                           "eval\x93."),
            "this file wants Python to call builtins.eval, which is no tensor (byte 1018)");
  // Names that only look like a known one, and what a terminal would obey.
  EXPECT_EQ(pickle_refusal("ctorchX\nFloatStorage\n."),
            "this file wants Python to call torchX.FloatStorage, which is no tensor (byte 1000)");
  EXPECT_EQ(pickle_refusal("ca\x1b[2J\nb\n."),
            "this file wants Python to call a\\u001b[2J.b, which is no tensor (byte 1000)");
}

TEST(PickleReader, OperationsThatNoTensorNeedsAreRefused) {
  EXPECT_EQ(pickle_refusal("\x80\x02N\x81"),
            "its pickle is not sound at byte 1003: the operation 0x81 is none that files of "
            "tensors need");
  EXPECT_NE(pickle_refusal("(i").find("0x69"), std::string::npos);
  EXPECT_NE(pickle_refusal("I1\n.").find("0x49"), std::string::npos);
}

TEST(PickleReader, WhatIsCutShortSaysHowMuchIsMissing) {
  EXPECT_EQ(pickle_refusal("\x80\x02X\x05"),
            "its pickle is not sound at byte 1002: 4 bytes are expected and 1 found: the file was "
            "cut short");
  EXPECT_EQ(pickle_refusal(std::string_view("X\x05\0\0\0ab", 7)),
            "its pickle is not sound at byte 1000: 5 bytes are expected and 2 found: the file was "
            "cut short");
  EXPECT_EQ(pickle_refusal("ctorch"),
            "its pickle is not sound at byte 1000: a line has no end: the file was cut short");
}

TEST(PickleReader, AStackIsNotTakenFromBelowAMark) {
  for (const char* bytes : {".", "N(.", "N(\x85", "e", "(e", "N(a", "t", "q\x01", "h\x01", "N)R",
                            "NNb", "}(Nu", "Nx", "(u", "Q", "NQ", "NN\x93", "]N(Ns"}) {
    EXPECT_EQ(pickle_refusal(bytes).find("its pickle is not sound at byte 100"), 0U) << bytes;
  }
}

TEST(PickleReader, NumbersOfEveryLengthAreRead) {
  const std::string bytes(
      "(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\0\x8a\x01\x80\x8a\x02\x80\0G\xbf\xe0\0\0\0\0\0\0t.",
      31);
  const auto pickle = read_pickle(as_bytes(bytes), 0);
  ASSERT_TRUE(pickle) << pickle.error().to_string();
  const auto items = pickle->items(pickle->root());
  ASSERT_EQ(items.size(), 7U);
  const std::int64_t expected[] = {255, 65535, -1, 0, -128, 128};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(pickle->at(items[i]).integer, expected[i]) << i;
  EXPECT_EQ(pickle->at(items[6]).number, -0.5);
  EXPECT_EQ(pickle->bytes(), bytes.size());
}

TEST(PickleReader, AnOrderedDictionaryOfPython2IsOne) {
  const std::string bytes =
      "ccollections\nOrderedDict\n](](U\x01"
      "aK\x05"
      "e](U\x01"
      "bK\x06"
      "ee\x85R.";
  const auto pickle = read_pickle(as_bytes(bytes), 0);
  ASSERT_TRUE(pickle) << pickle.error().to_string();
  EXPECT_EQ(pickle->root().kind, PickleKind::kDict);
  const auto items = pickle->items(pickle->root());
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(pickle->at(items[2]).text, "b");
  EXPECT_EQ(pickle->at(items[3]).integer, 6);
}

// Naming one long list again and again must not copy it each time.
TEST(PickleReader, CopiesAreLimited) {
  std::string bytes = "ccollections\nOrderedDict\nq\x01](";
  for (int i = 0; i < 500; ++i) bytes += "K\x01K\x01\x86";
  bytes += "e\x85q\x02";
  for (int i = 0; i < 500; ++i) bytes += "h\x01h\x02R";
  EXPECT_NE(pickle_refusal(bytes + ".").find("it copies more than it has"), std::string::npos);
}

}  // namespace pickle_reader_test
}  // namespace
}  // namespace outlast::trainers::testing
