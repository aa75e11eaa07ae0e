#include "store/s3/s3_answers.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/time.h"
#include "store/s3/testing/fuzz_s3_answers.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store::s3 {
namespace {

std::string listing(const std::string& inside) {
  return "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\">" + inside + "</ListBucketResult>";
}
std::string listed(const std::string& key) {
  return "<Contents><Key>" + key +
         "</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>&quot;e1&quot;</ETag>"
         "<Size>12</Size></Contents>";
}

TEST(S3Answers, ReadsAPageOfAList) {
  const auto page = read_list(listing(
      "<IsTruncated>true</IsTruncated><NextContinuationToken>t/+=</NextContinuationToken>"
      "<EncodingType>url</EncodingType>" +
      listed("a%2Bb+c%25%C3%A9") + "<CommonPrefixes><Prefix>f+1%2F</Prefix></CommonPrefixes>"));
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "a+b c%\u00e9");
  EXPECT_EQ(page->objects[0].size, 12U);
  EXPECT_EQ(page->objects[0].version, "e1");
  EXPECT_EQ(format_rfc3339(page->objects[0].modified), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(page->folders, (std::vector<std::string>{"f 1/"}));
  EXPECT_EQ(page->next, "t/+=");
}

TEST(S3Answers, TakesKeysAsTheyAreUnlessTheServerSaysThatItEncodedThem) {
  const auto page = read_list(listing(listed("a+b%20c &amp; d")));
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_EQ(page->objects[0].key, "a+b%20c & d");
  EXPECT_EQ(page->next, "");
}

TEST(S3Answers, APageMayBeEmptyAndNotTheLast) {
  const auto page = read_list(
      listing("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"));
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_TRUE(page->objects.empty());
  EXPECT_EQ(page->next, "t");
}

TEST(S3Answers, RefusesListsThatSayTooLittle) {
  for (const std::string& bad :
       {std::string(), std::string("<html><body>Sign in</body></html>"), listing("").substr(0, 40),
        listing("<IsTruncated>true</IsTruncated>"), listing("<Contents><Key>a</Key></Contents>"),
        listing("<Contents><Key></Key><Size>1</Size></Contents>"),
        listing("<EncodingType>url</EncodingType>" + listed("a%2"))}) {
    const auto page = read_list(bad);
    ASSERT_FALSE(page) << bad;
    EXPECT_EQ(page.error().code(), ErrorCode::kFailed);
  }
}

TEST(S3Answers, ReadsRefusalsAndToleratesEverythingElse) {
  const Refusal refusal = read_refusal(
      "<?xml "
      "version=\"1.0\"?>\n<Error><Code>AuthorizationHeaderMalformed</Code><Message>two\nlines "
      "</Message><Region>eu-west-3</Region><RequestId>R1</RequestId></Error>");
  EXPECT_EQ(refusal.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(refusal.message, "two lines");
  EXPECT_EQ(refusal.region, "eu-west-3");
  EXPECT_EQ(refusal.request, "R1");
  for (const char* other : {"", "<html><title>502 Bad Gateway</title></html>", "{}", "<Error>"}) {
    EXPECT_EQ(read_refusal(other).code, "") << other;
  }
  const Refusal loud = read_refusal("<Error><Code>C</Code><Message>" + std::string(5000, 'x') +
                                    "\xff</Message></Error>");
  EXPECT_LT(loud.message.size(), 400U);
}

TEST(S3Answers, ReadsUploadsAndTheirParts) {
  EXPECT_EQ(read_upload_id("<InitiateMultipartUploadResult><UploadId>u~1</UploadId>"
                           "</InitiateMultipartUploadResult>")
                .value(),
            "u~1");
  EXPECT_FALSE(read_upload_id("<InitiateMultipartUploadResult/>"));
  const auto page = read_parts(
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>2</"
      "NextPartNumberMarker>"
      "<ChecksumAlgorithm>CRC32C</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>"
      "<Part><PartNumber>2</PartNumber><ETag>\"e\"</ETag><Size>7</Size>"
      "<ChecksumCRC32C>mnG7TA==</ChecksumCRC32C></Part></ListPartsResult>");
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->parts.size(), 1U);
  EXPECT_EQ(page->parts[0].number, 2U);
  EXPECT_EQ(page->parts[0].size, 7U);
  EXPECT_EQ(page->parts[0].etag, "e");
  EXPECT_EQ(page->parts[0].crc32c, crc32c(as_bytes("hello")));
  EXPECT_EQ(page->next, 2U);
  EXPECT_EQ(page->checksum_algorithm, "CRC32C");
  EXPECT_EQ(page->checksum_type, "FULL_OBJECT");
  EXPECT_FALSE(
      read_parts("<ListPartsResult><Part><PartNumber>0</PartNumber><Size>7</Size>"
                 "</Part></ListPartsResult>"));
}

TEST(S3Answers, ACompletionMayBeARefusal) {
  const auto done = read_completion(
      "   \n <?xml version=\"1.0\"?>\n\n<CompleteMultipartUploadResult><ETag>&#34;e-2&#34;</ETag>"
      "</CompleteMultipartUploadResult>");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->etag, "e-2");
  EXPECT_FALSE(done->refusal);
  const auto refused = read_completion(" <Error><Code>InternalError</Code></Error>");
  ASSERT_TRUE(refused && refused->refusal);
  EXPECT_EQ(refused->refusal->code, "InternalError");
  for (const char* silent :
       {"<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>",
        "<CompleteMultipartUploadResult/>"}) {
    EXPECT_EQ(read_completion(silent).value().etag, "") << silent;
  }
  EXPECT_FALSE(read_completion("     "));
}

sys::HttpResponse object_answer(int status, const sys::HttpHeaders& more) {
  sys::HttpResponse out{.status = status,
                        .headers = {{"Content-Length", "5"},
                                    {"ETag", "\"e1\""},
                                    {"Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT"}}};
  out.headers.insert(out.headers.end(), more.begin(), more.end());
  return out;
}

TEST(S3Answers, ReadsWhatHeadersSayOfAnObject) {
  const auto whole =
      read_object_headers("k", object_answer(200, {{"x-amz-checksum-crc32c", "mnG7TA=="}}));
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->object.key, "k");
  EXPECT_EQ(whole->object.size, 5U);
  EXPECT_EQ(whole->object.version, "e1");
  EXPECT_EQ(format_rfc3339(whole->object.modified), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(whole->object.crc32c, crc32c(as_bytes("hello")));
  const auto part =
      read_object_headers("k", object_answer(206, {{"Content-Range", "bytes 10-14/100"}}));
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_EQ(part->object.size, 100U);
  EXPECT_EQ(part->offset, 10U);
}

TEST(S3Answers, AChecksumOfChecksumsIsNone) {
  for (const sys::HttpHeaders& headers : {sys::HttpHeaders{{"x-amz-checksum-crc32c", "mnG7TA==-2"}},
                                          sys::HttpHeaders{{"x-amz-checksum-crc32c", "mnG7TA=="},
                                                           {"x-amz-checksum-type", "COMPOSITE"}}}) {
    EXPECT_EQ(read_object_headers("k", object_answer(200, headers))->object.crc32c, std::nullopt);
  }
}

TEST(S3Answers, RefusesRangesThatAreNone) {
  for (const char* bad : {"", "bytes 5-4/10", "bytes 0-9/9", "bytes */9", "bytes 0-4", "0-4/9",
                          "bytes -1-4/9", "bytes 0-4/*"}) {
    EXPECT_FALSE(read_object_headers("k", object_answer(206, {{"Content-Range", bad}}))) << bad;
  }
  EXPECT_FALSE(read_object_headers("k", {.status = 200, .headers = {{"ETag", "\"e\""}}}));
  EXPECT_FALSE(read_object_headers("k", {.status = 200, .headers = {{"Content-Length", "1"}}}));
}

TEST(S3Answers, AnEtagIsStrongAndCanBeSentBack) {
  EXPECT_EQ(read_etag("\"abc-1\"").value(), "abc-1");
  EXPECT_EQ(read_etag("abc").value(), "abc");
  EXPECT_EQ(read_etag("\"W/\"").value(), "W/");
  EXPECT_TRUE(is_version("W/"));
  for (const char* bad : {"", "\"\"", "W/\"abc\"", "\"a\"b\"", "a b", "a\r\nX: 1", "\xc3\xa9"}) {
    EXPECT_FALSE(read_etag(bad)) << bad;
  }
}

TEST(S3Answers, WritesAndReadsChecksums) {
  EXPECT_EQ(format_crc32c(crc32c(as_bytes("hello"))), "mnG7TA==");
  EXPECT_EQ(parse_crc32c("mnG7TA=="), crc32c(as_bytes("hello")));
  for (const char* bad : {"", "mnG7TA", "mnG7TA==-1", "AAAA", "?"}) {
    EXPECT_EQ(parse_crc32c(bad), std::nullopt) << bad;
  }
}

TEST(S3Answers, EveryAnswerThatWasEverInterestingKeepsThePromises) {
  sys::testing::real_world().run([](sys::World& world, const std::string&) {
    const std::string folder = OUTLAST_SOURCE_DIR "/tests/corpus/s3_answers";
    const auto entries = world.files.list(folder);
    ASSERT_TRUE(entries) << entries.error().to_string();
    ASSERT_FALSE(entries->empty());
    for (const auto& entry : *entries) {
      const auto bytes = sys::read_file(world.files, folder + "/" + entry.name, 1U << 20U);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      testing::fuzz_s3_answers(*bytes);
    }
  });
}

}  // namespace
}  // namespace outlast::store::s3
