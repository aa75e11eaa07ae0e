#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"

namespace outlast::store {
namespace {

TEST(CheckKey, TakesEveryOrdinaryName) {
  for (const std::string_view key : {"a", "a/b/c", "with space", ".hidden", "...", "a..b",
                                     "\u65e5\u672c", "\U0001f600", "a%2Fb"}) {
    EXPECT_TRUE(check_key(key)) << key;
  }
  EXPECT_TRUE(check_key(std::string(1024, 'x')));
}

TEST(CheckKey, SaysWhatIsWrong) {
  const auto sentence = [](std::string_view key) {
    const Result<void> checked = check_key(key);
    if (checked) return std::string("nothing");
    EXPECT_EQ(checked.error().code(), ErrorCode::kInvalidArgument);
    return checked.error().to_string();
  };
  EXPECT_EQ(sentence(""), "the object's name is empty");
  EXPECT_EQ(sentence(std::string(1025, 'x')),
            "the object's name has 1025 bytes; at most 1,024 are possible");
  EXPECT_EQ(sentence("a\xc3"), "the object's name is not UTF-8");
  EXPECT_EQ(sentence("a\nb"), "the object's name has a control character");
  EXPECT_EQ(sentence("a\x7f"), "the object's name has a control character");
  for (const std::string_view key : {"/", "/a", "a/", "a//b"}) {
    EXPECT_EQ(sentence(key), "the object's name has an empty part between slashes") << key;
  }
  for (const std::string_view key : {".", "..", "a/..", "./a", "a/./b"}) {
    EXPECT_EQ(sentence(key), "the object's name has '.' or '..' as a part of its own") << key;
  }
}

}  // namespace
}  // namespace outlast::store
