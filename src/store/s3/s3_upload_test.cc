#include "store/s3/s3_upload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/sigv4.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_store.h"
#include "store/s3/testing/scripted_http.h"

namespace outlast::store::s3::testing {
namespace {

constexpr std::uint64_t kPart = 5U << 20U;
constexpr const char* kStarted =
    "<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>";

class S3UploadTest : public ::testing::Test {
 protected:
  void SetUp() override { open({.bucket = "bkt", .endpoint = "http://127.0.0.1:9000"}); }
  void TearDown() override { EXPECT_TRUE(http_.all_used()); }
  void open(const S3Options& options) { store_ = *make_s3_store(options, http_, clock_, keys_); }

  UploadPlan plan(const WriteIf& condition = {}) const {
    return {.size = text_.size(), .part_bytes = kPart, .condition = condition};
  }
  std::unique_ptr<Upload> start(const WriteIf& condition = {}) {
    http_.answer(200,
                 {{"x-amz-checksum-algorithm", "CRC32C"}, {"x-amz-checksum-type", "FULL_OBJECT"}},
                 kStarted);
    return *store_->start_upload("k", plan(condition), {});
  }
  Result<void> put(Upload& upload, std::uint64_t index) {
    return upload.put_part(index, as_bytes(text_).subspan(index * kPart, plan().bytes_of(index)),
                           {});
  }
  std::unique_ptr<Upload> start_and_put(const WriteIf& condition = {}) {
    auto upload = start(condition);
    for (std::uint64_t i = 0; i < 2; ++i) {
      http_.answer(200, {{"ETag", part_etag(i)}});
      EXPECT_TRUE(put(*upload, i));
    }
    return upload;
  }
  std::string part_text(std::uint64_t index) const {
    return text_.substr(index * kPart, plan().bytes_of(index));
  }
  std::string part_etag(std::uint64_t index) const {
    return "\"" + hex_encode(md5(as_bytes(part_text(index)))) + "\"";
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
  void answer_completed(const std::string& etag) {
    http_.answer(
        200, {},
        "<CompleteMultipartUploadResult><ETag>" + etag + "</ETag></CompleteMultipartUploadResult>");
  }

  const std::string text_ = std::string(kPart, 'a') + "bcd";
  ScriptedHttp http_;
  StoppedClock clock_;
  NumberedKeys keys_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(S3UploadTest, GoesFromStartToCompletion) {
  const auto upload = start_and_put();
  EXPECT_EQ(upload->token().reveal(), "u/1");
  EXPECT_EQ(upload->stored_parts(), (std::vector<std::uint64_t>{0, 1}));
  answer_completed("&quot;whole-2&quot;");
  EXPECT_EQ(upload->complete({}).value(), "whole-2");
  EXPECT_EQ(http_.sent[0].url, "http://127.0.0.1:9000/bkt/k?uploads=");
  EXPECT_EQ(http_.sent[0].header("x-amz-checksum-algorithm"), "CRC32C");
  EXPECT_EQ(http_.sent[0].header("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(http_.sent[2].url, "http://127.0.0.1:9000/bkt/k?partNumber=2&uploadId=u%2F1");
  EXPECT_EQ(http_.sent[2].header("x-amz-checksum-crc32c"), format_crc32c(crc32c(as_bytes("bcd"))));
  const SentRequest& complete = http_.sent[3];
  EXPECT_EQ(complete.url, "http://127.0.0.1:9000/bkt/k?uploadId=u%2F1");
  EXPECT_EQ(complete.header("x-amz-checksum-crc32c"), format_crc32c(crc32c(as_bytes(text_))));
  EXPECT_EQ(complete.header("x-amz-checksum-type"), "FULL_OBJECT");
  const std::string second = part_etag(1).substr(1, 32);
  EXPECT_NE(complete.body.find("<Part><PartNumber>2</PartNumber><ETag>&quot;" + second +
                               "&quot;</ETag><ChecksumCRC32C>" +
                               format_crc32c(crc32c(as_bytes("bcd"))) + "</ChecksumCRC32C></Part>"),
            std::string::npos)
      << complete.body;
  EXPECT_EQ(complete.header("X-Amz-Content-Sha256"), sha256(as_bytes(complete.body)).hex());
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kNotFound);
}

TEST_F(S3UploadTest, PartsAreNotHashedOnceTheServerKeepsChecksums) {
  const auto upload = start();
  const std::string echo = format_crc32c(crc32c(as_bytes("bcd")));
  http_.answer(200, {{"ETag", part_etag(1)}, {"x-amz-checksum-crc32c", echo}});
  http_.answer(200, {{"ETag", part_etag(1)}, {"x-amz-checksum-crc32c", echo}});
  ASSERT_TRUE(put(*upload, 1) && put(*upload, 1));
  EXPECT_EQ(http_.sent[1].header("X-Amz-Content-Sha256"), sha256(as_bytes("bcd")).hex());
  EXPECT_EQ(http_.sent[2].header("X-Amz-Content-Sha256"), cloud::kUnsignedPayload);
}

TEST_F(S3UploadTest, AServerThatRefusesChecksumsIsAskedWithout) {
  http_.refuse(400, "InvalidRequest");
  EXPECT_EQ(code_of(store_->start_upload("k", plan(), {})), ErrorCode::kInvalidArgument)
      << "it does not speak of checksums";
  http_.answer(400, {},
               "<Error><Code>InvalidRequest</Code><Message>x-amz-Checksum-type?</Message>"
               "</Error>");
  http_.refuse(501, "NotImplemented");
  http_.answer(200, {}, kStarted);
  const auto upload = *store_->start_upload("k", plan(), {});
  EXPECT_FALSE(http_.sent[2].has("x-amz-checksum-type"));
  EXPECT_FALSE(http_.sent[3].has("x-amz-checksum-algorithm"));
  http_.answer(200, {{"ETag", part_etag(1)}});
  ASSERT_TRUE(put(*upload, 1));
  EXPECT_FALSE(http_.sent[4].has("x-amz-checksum-crc32c"));
  EXPECT_TRUE(http_.sent[4].has("Content-MD5"));
}

TEST_F(S3UploadTest, ACompletionsRefusalIn200IsSeen) {
  const auto upload = start_and_put();
  http_.answer(200, {}, "  \n<Error><Code>SlowDown</Code></Error>");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kThrottled);
  http_.answer(200, {}, "<?xml version=\"1.0\"?>  <Error><Code>InternalError</Code></Error>");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kUnknownOutcome);
  // It may be ours that the earlier try completed.
  http_.refuse(404, "NoSuchUpload");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kUnknownOutcome);
}

TEST_F(S3UploadTest, AnAnswerThatBreaksOffLeavesTheOutcomeOpen) {
  const auto upload = start_and_put();
  http_.answer(200, {}, "          ");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kUnknownOutcome);
  http_.fail(ErrorCode::kUnknownOutcome);
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kUnknownOutcome);
}

TEST_F(S3UploadTest, AnUploadThatIsGoneIsNotFound) {
  const auto upload = start_and_put();
  http_.refuse(404, "NoSuchUpload");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kNotFound);
  http_.refuse(404, "NoSuchUpload");
  EXPECT_EQ(code_of(store_->resume_upload("k", plan(), upload->token(), {})), ErrorCode::kNotFound);
  http_.refuse(404, "NoSuchUpload");
  EXPECT_TRUE(upload->abort({}));
}

TEST_F(S3UploadTest, AServerThatDoesNotSayTheVersionFollowsTheRule) {
  const auto upload = start_and_put();
  answer_completed("");
  Bytes sums;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto sum = md5(as_bytes(part_text(i)));
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  EXPECT_EQ(upload->complete({}).value(), hex_encode(md5(sums)) + "-2");
}

TEST_F(S3UploadTest, MissingPartsAreNotCompleted) {
  const auto upload = start();
  http_.answer(200, {{"ETag", "\"x\""}});
  ASSERT_TRUE(put(*upload, 0));
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kInvalidArgument);
}

TEST_F(S3UploadTest, TheConditionIsLookedAtAndSent) {
  const auto upload = start_and_put(WriteIf::absent());
  const sys::HttpHeaders there = {{"ETag", "\"e1\""}, {"Content-Length", "5"}};
  http_.answer(200, there);
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kAlreadyExists);
  http_.answer(404);
  http_.refuse(412, "PreconditionFailed");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kAlreadyExists);
  EXPECT_EQ(http_.sent.back().header("If-None-Match"), "*");
}

TEST_F(S3UploadTest, AmazonJudgesTheConditionItself) {
  open({.bucket = "bkt"});
  const auto upload = start_and_put(WriteIf::version_is("e0"));
  http_.refuse(404, "NoSuchKey");
  EXPECT_EQ(code_of(upload->complete({})), ErrorCode::kConditionFailed);
  EXPECT_EQ(http_.sent.back().header("If-Match"), "\"e0\"");
}

TEST_F(S3UploadTest, ResumesWithThePartsThatFitThePlan) {
  http_.answer(
      200, {},
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1"
      "</NextPartNumberMarker><ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>"
      "<ChecksumType>FULL_OBJECT</ChecksumType><Part><PartNumber>1</PartNumber><ETag>\"p1\""
      "</ETag><Size>5242880</Size></Part></ListPartsResult>");
  http_.answer(200, {},
               "<ListPartsResult><ChecksumAlgorithm>CRC32C</ChecksumAlgorithm><Part><PartNumber>2"
               "</PartNumber><ETag>\"p2\"</ETag><Size>4</Size></Part><Part><PartNumber>3"
               "</PartNumber><ETag>\"p3\"</ETag><Size>3</Size></Part></ListPartsResult>");
  const auto upload = store_->resume_upload("k", plan(), Secret<std::string>("u/1"), {});
  ASSERT_TRUE(upload) << upload.error().to_string();
  EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0}));
  EXPECT_NE(http_.sent[1].url.find("part-number-marker=1"), std::string::npos);
  http_.answer(200, {{"ETag", "\"p2\""}});
  ASSERT_TRUE(put(**upload, 1));
  EXPECT_TRUE(http_.sent.back().has("x-amz-checksum-crc32c"));
  answer_completed("\"e-2\"");
  EXPECT_EQ((*upload)->complete({}).value(), "e-2");
  EXPECT_FALSE(http_.sent.back().has("x-amz-checksum-crc32c")) << "part 1's is not known";
}

TEST_F(S3UploadTest, PagesOfPartsThatGoInCirclesAreLeft) {
  const std::string circle =
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1"
      "</NextPartNumberMarker></ListPartsResult>";
  http_.answer(200, {}, circle);
  http_.answer(200, {}, circle);
  EXPECT_EQ(code_of(store_->resume_upload("k", plan(), Secret<std::string>("u"), {})),
            ErrorCode::kFailed);
}

}  // namespace
}  // namespace outlast::store::s3::testing
