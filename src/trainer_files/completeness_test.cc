#include "trainer_files/completeness.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainer_files/testing/made_files.h"

namespace outlast::trainer_files {
namespace {
namespace completeness_test {

using testing::made_hdf5;
using testing::made_pickle;
using testing::made_safetensors;
using testing::made_zip;
using testing::number_bytes;

// Of bytes in memory, in a file that may say that it is longer.
Completeness check_text(std::string_view text, std::uint64_t size) {
  const auto checked = check_bytes(
      {.size = size,
       .read_at = [&](std::span<std::byte> buffer, std::uint64_t offset) -> Result<std::size_t> {
         if (offset >= text.size()) return std::size_t{0};
         const std::string_view rest = text.substr(static_cast<std::size_t>(offset));
         const std::size_t count = std::min(buffer.size(), rest.size());
         std::memcpy(buffer.data(), rest.data(), count);
         return count;
       }});
  EXPECT_TRUE(checked);
  return checked ? *checked : Completeness{};
}
Completeness check_text(std::string_view text) {
  return check_text(text, text.size());
}

struct WholeCase {
  std::string name;
  FileFormat format;
  std::string bytes;
};

std::vector<WholeCase> whole_cases() {
  const std::string content(300, 'c');
  return {
      {"Zip", FileFormat::kZip, made_zip(content)},
      {"ZipOfPyTorch", FileFormat::kZip, made_zip(content, {.is_large = true})},
      {"ZipWithAComment", FileFormat::kZip, made_zip(content, {.comment = "a PK comment"})},
      {"EmptyZip", FileFormat::kZip, "PK\x05\x06" + std::string(18, '\0')},
      {"Safetensors", FileFormat::kSafetensors, made_safetensors(500)},
      {"SafetensorsWithoutData", FileFormat::kSafetensors, made_safetensors(0)},
      {"Hdf5Version0", FileFormat::kHdf5, made_hdf5(0, 400)},
      {"Hdf5Version1", FileFormat::kHdf5, made_hdf5(1, 400)},
      {"Hdf5Version2", FileFormat::kHdf5, made_hdf5(2, 400)},
      {"Hdf5Version3", FileFormat::kHdf5, made_hdf5(3, 400)},
  };
}

class WholeFiles : public ::testing::TestWithParam<WholeCase> {};

TEST_P(WholeFiles, AreWholeAndNoPartOfThemIs) {
  const std::string& bytes = GetParam().bytes;
  const Completeness all = check_text(bytes);
  EXPECT_EQ(all.wholeness, Wholeness::kWhole) << all.why;
  EXPECT_EQ(all.format, GetParam().format);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Completeness part = check_text(std::string_view(bytes).substr(0, length));
    EXPECT_NE(part.wholeness, Wholeness::kWhole) << length;
    EXPECT_FALSE(part.why.empty()) << length;
    // Once there is enough to know the format, a missing end is known too.
    if (length > 8) {
      EXPECT_EQ(part.wholeness, Wholeness::kTorn) << length;
    }
  }
}

TEST_P(WholeFiles, AreNotWholeWithSomethingBehindThem) {
  EXPECT_NE(check_text(GetParam().bytes + "more").wholeness, Wholeness::kWhole);
}

TEST_P(WholeFiles, AreTornWhenTheyBecomeShorterWhileTheyAreRead) {
  const std::string& bytes = GetParam().bytes;
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_NE(check_text(std::string_view(bytes).substr(0, length), bytes.size() + 9).wholeness,
              Wholeness::kWhole);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WholeFiles, ::testing::ValuesIn(whole_cases()),
                         [](const auto& made) { return made.param.name; });

TEST(Completeness, AZipThatEndsLikeTheOneInsideItIsNotWhole) {
  // A stored entry that is itself a zip: cut right behind it, the file ends with an end record.
  const std::string inner = made_zip(std::string(40, 'i'));
  const std::string outer = made_zip(inner);
  const std::string cut = outer.substr(0, outer.find(inner) + inner.size());
  EXPECT_EQ(check_text(cut).wholeness, Wholeness::kUnknown);
  EXPECT_EQ(check_text(outer).wholeness, Wholeness::kWhole);
}

TEST(Completeness, AZipThatHasItsSizeBeforeItsBytesIsTorn) {
  std::string zip = made_zip(std::string(300, 'c'));
  std::fill(zip.begin() + 100, zip.end(), '\0');
  EXPECT_EQ(check_text(zip).wholeness, Wholeness::kTorn);
}

TEST(Completeness, SeveralZipsInARowMayBeWhole) {
  const std::string zip = made_zip("shard", {.is_large = true});
  EXPECT_EQ(check_text(zip + zip).wholeness, Wholeness::kUnknown);
}

TEST(Completeness, APickleIsTornOrUnknown) {
  const std::string pickle = made_pickle("text without a full stop");
  EXPECT_EQ(check_text(pickle).wholeness, Wholeness::kUnknown);
  EXPECT_EQ(check_text(pickle).format, FileFormat::kPickle);
  for (std::size_t length = 2; length < pickle.size(); ++length) {
    EXPECT_EQ(check_text(std::string_view(pickle).substr(0, length)).wholeness, Wholeness::kTorn);
  }
  EXPECT_EQ(check_text("\x80\x02K\x01.").wholeness, Wholeness::kUnknown);
  EXPECT_EQ(check_text("\x80\x02K\x01").wholeness, Wholeness::kTorn);
  // PyTorch's old format goes on behind its pickles.
  const std::string old_magic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  EXPECT_EQ(check_text(old_magic + "and the rest").wholeness, Wholeness::kUnknown);
}

TEST(Completeness, JsonEndsAsItBegins) {
  EXPECT_EQ(check_text("{\"learner\": {}} \n").wholeness, Wholeness::kUnknown);
  EXPECT_EQ(check_text("{\"learner\": {}").wholeness, Wholeness::kUnknown);
  EXPECT_EQ(check_text("{\"learner\": ").wholeness, Wholeness::kTorn);
}

TEST(Completeness, UnknownFormatsAreUnknown) {
  for (const std::string_view text : {"", "weights", "\x1f\x8b\x08 gzip", "\x93NUMPY"}) {
    EXPECT_EQ(check_text(text).wholeness, Wholeness::kUnknown) << text;
  }
}

TEST(Completeness, NumbersThatOverflowAreTorn) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::string header = R"({"w":{"data_offsets":[0,18446744073709551615]}})";
  EXPECT_EQ(check_text(number_bytes(header.size(), 8) + header).wholeness, Wholeness::kTorn);
  std::string zip = made_zip("text", {.is_large = true});
  for (const std::size_t field : {4, 32, 40, 48}) {
    std::string bad = zip;
    bad.replace(bad.find("PK\x06\x06") + field, 8, number_bytes(kMax, 8));
    EXPECT_NE(check_text(bad).wholeness, Wholeness::kWhole) << field;
  }
  zip.replace(zip.find("PK\x06\x07") + 8, 8, number_bytes(kMax, 8));
  EXPECT_NE(check_text(zip).wholeness, Wholeness::kWhole);
  std::string hdf5 = made_hdf5(0, 400);
  hdf5.replace(40, 8, number_bytes(kMax, 8));
  EXPECT_EQ(check_text(hdf5).wholeness, Wholeness::kTorn);
}

TEST(Completeness, AnHdf5FileThatSaysItIsOpenIsTorn) {
  std::string file = made_hdf5(3, 400);
  file[11] = '\x01';
  EXPECT_EQ(check_text(file).wholeness, Wholeness::kTorn);
}

TEST(Completeness, AFileThatCannotBeReadIsAnError) {
  const auto checked = check_bytes(
      {.size = 10, .read_at = [](std::span<std::byte>, std::uint64_t) -> Result<std::size_t> {
         return Error(ErrorCode::kUnavailable, "the disk is asleep");
       }});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kUnavailable);
}

RC_GTEST_PROP(Completeness, ABeginningWithAnythingBehindItIsNotWhole, ()) {
  const std::string beginning =
      *rc::gen::element<std::string>("PK\x03\x04", "\x89HDF\r\n\x1a\n", "\x80\x04\x95", "{",
                                     number_bytes(20, 8) + "{\"a\":{\"data_offsets\":[");
  const std::string rest = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const std::string end =
      *rc::gen::element<std::string>("", "PK\x05\x06", "PK\x06\x07" + std::string(38, '\x01'), ".");
  const Completeness found = check_text(beginning + rest + end);
  RC_ASSERT(found.wholeness != Wholeness::kWhole);
  RC_ASSERT(!found.why.empty());
}

}  // namespace completeness_test
}  // namespace
}  // namespace outlast::trainer_files
