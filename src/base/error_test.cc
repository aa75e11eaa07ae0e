#include "base/error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

namespace outlast {
namespace {

Error manifest_unreadable() {
  return {ErrorCode::kUnavailable, "GET manifests/ab: 503"};
}

TEST(Error, ReadsOutermostFirst) {
  const Error error =
      manifest_unreadable().while_doing("read manifest").while_doing("restore job j-42");
  EXPECT_EQ(error.to_string(), "restore job j-42: read manifest: GET manifests/ab: 503");
  EXPECT_EQ(error.sentence(), "restore job j-42");
}

TEST(Error, KeepsTheCodeOfItsCause) {
  EXPECT_EQ(manifest_unreadable().while_doing("x").while_doing("y").code(),
            ErrorCode::kUnavailable);
}

TEST(Error, CauseIsTheLayerBelow) {
  const Error error = manifest_unreadable().while_doing("read manifest");
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->sentence(), "GET manifests/ab: 503");
  EXPECT_EQ(error.cause()->cause(), nullptr);
}

TEST(Error, CopiesOutliveTheOriginal) {
  const Error* cause = nullptr;
  Error copy = manifest_unreadable();
  {
    const Error original = manifest_unreadable().while_doing("read manifest");
    copy = original;
    cause = original.cause();
  }
  EXPECT_EQ(copy.cause(), cause);
  EXPECT_EQ(copy.to_string(), "read manifest: GET manifests/ab: 503");
}

TEST(Error, EachLayerKnowsWhereItWasMade) {
  const Error inner = manifest_unreadable();
  const Error outer = inner.while_doing("read manifest");
  EXPECT_TRUE(std::string_view(outer.where().file_name()).ends_with("error_test.cc"));
  EXPECT_NE(outer.where().line(), inner.where().line());
  EXPECT_EQ(outer.cause()->where().line(), inner.where().line());
}

TEST(Error, EveryLayerKnowsHowLongToStayAway) {
  EXPECT_FALSE(manifest_unreadable().retry_after());
  const Error inner = manifest_unreadable().with_retry_after(std::chrono::seconds(7));
  EXPECT_EQ(inner.while_doing("read manifest").retry_after(), std::chrono::seconds(7));
}

TEST(ErrorCode, EveryCodeHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  const int last = static_cast<int>(ErrorCode::kFailed);
  for (int code = 0; code <= last; ++code) words.insert(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_EQ(to_string(ErrorCode::kUnknownOutcome), "unknown outcome");
}

}  // namespace
}  // namespace outlast
