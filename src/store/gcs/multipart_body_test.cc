#include "store/gcs/multipart_body.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/encoding.h"
#include "store/gcs/testing/stand_in_uploads.h"

namespace outlast::store::gcs {
namespace {

std::string read_in_steps(MultipartBody& body, std::size_t step) {
  std::string text;
  std::string buffer(step, '\0');
  while (true) {
    const auto read = body.read_at(std::as_writable_bytes(std::span(buffer)), text.size());
    EXPECT_TRUE(read);
    if (!read || *read == 0) return text;
    text += buffer.substr(0, *read);
  }
}

TEST(MultipartBody, IsReadAlikeInStepsOfAnySize) {
  const std::string bytes = "the object's bytes";
  MultipartBody body(R"({"name":"a"})", as_bytes(bytes));
  const std::string whole = read_in_steps(body, 10'000);
  EXPECT_EQ(whole.size(), body.size());
  for (std::size_t step = 1; step < 60; ++step) EXPECT_EQ(read_in_steps(body, step), whole) << step;
}

TEST(MultipartBody, TheOtherSideFindsBothParts) {
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string("\r\n--outlast-part-0--\r\n"),
        std::string("outlast-part-0 outlast-part-10\r\n--"), std::string("\0\r\n\r\n\0", 6)}) {
    MultipartBody body(R"({"name":"outlast-part-2"})", as_bytes(bytes));
    const auto parts = testing::split_multipart(body.content_type(), read_in_steps(body, 1000));
    ASSERT_TRUE(parts) << body.content_type();
    EXPECT_EQ(parts->json, R"({"name":"outlast-part-2"})");
    EXPECT_EQ(parts->content, bytes);
    EXPECT_EQ(parts->content_type, "application/octet-stream");
  }
}

}  // namespace
}  // namespace outlast::store::gcs
