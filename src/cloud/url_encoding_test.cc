#include "cloud/url_encoding.h"

#include <gtest/gtest.h>

namespace outlast::cloud {
namespace {

TEST(UrlEncoding, KeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("run 1/a+b=c%~é"), "run%201%2Fa%2Bb%3Dc%25~%C3%A9");
  EXPECT_EQ(percent_encode_path("/run 1/a+b"), "/run%201/a%2Bb");
}

TEST(UrlEncoding, DecodesWhatItEncodedAndRefusesHalves) {
  EXPECT_EQ(percent_decode(percent_encode("a b%/+é")).value(), "a b%/+é");
  for (const char* bad : {"%", "%4", "%4g", "a%"}) EXPECT_FALSE(percent_decode(bad)) << bad;
}

TEST(UrlEncoding, JoinsAQueryInOrder) {
  EXPECT_EQ(encode_query({{"uploads", ""}, {"prefix", "a/b"}}), "uploads=&prefix=a%2Fb");
  EXPECT_EQ(encode_query({}), "");
}

}  // namespace
}  // namespace outlast::cloud
