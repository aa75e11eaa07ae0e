#include "store/azure/azure_answers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "store/azure/testing/fuzz_azure_answers.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

constexpr const char* kList =
    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>"
    "<EnumerationResults ServiceEndpoint=\"https://acc.blob.core.windows.net/\" "
    "ContainerName=\"jobs\"><Prefix>a</Prefix><Blobs>"
    "<Blob><Name>a/z &amp; y</Name><Properties><Last-Modified>Sun, 15 Nov 2026 08:00:00 GMT"
    "</Last-Modified><Etag>0x8D1</Etag><Content-Length>5</Content-Length>"
    "<BlobType>BlockBlob</BlobType></Properties></Blob>"
    "<Blob><Name>a/folder</Name><Properties><Etag>0x8D3</Etag><ResourceType>directory"
    "</ResourceType></Properties></Blob>"
    "<BlobPrefix><Name>a/p/</Name></BlobPrefix>"
    "<Blob><Name Encoded=\"true\">a%EF%BF%BE%25</Name><Properties><Last-Modified>Sun, 15 Nov 2026 "
    "08:00:01 GMT</Last-Modified><Etag>\"0x8D2\"</Etag><Content-Length>0</Content-Length>"
    "</Properties></Blob>"
    "</Blobs><NextMarker>2!72!m</NextMarker></EnumerationResults>";

TEST(AzureAnswers, AListHasObjectsFoldersAndWhereToGoOn) {
  const auto page = parse_azure_list(kList);
  ASSERT_TRUE(page) << page.error().to_string();
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "a/z & y");
  EXPECT_EQ(page->objects[0].size, 5U);
  EXPECT_EQ(page->objects[0].version, "0x8D1");
  EXPECT_EQ(format_rfc3339(page->objects[0].modified), "2026-11-15T08:00:00.000Z");
  EXPECT_EQ(page->objects[1].key, "a\xEF\xBF\xBE%");
  EXPECT_EQ(page->objects[1].version, "0x8D2") << "with or without quotes, it is the same";
  EXPECT_EQ(page->folders, (std::vector<std::string>{"a/p/"}));
  EXPECT_EQ(page->next, "2!72!m");
}

TEST(AzureAnswers, AListThatAzureCannotHaveSentIsCorrupt) {
  const std::string good =
      "<Blob><Name>a</Name><Properties><Last-Modified>Sun, 15 Nov 2026 08:00:00 "
      "GMT</Last-Modified><Etag>0x8D1</Etag><Content-Length>5</Content-Length>"
      "</Properties></Blob>";
  const auto with = [](const std::string& inside) {
    return "<EnumerationResults><Blobs>" + inside + "</Blobs></EnumerationResults>";
  };
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    text.replace(text.find(what), what.size(), by);
    return with(text);
  };
  ASSERT_TRUE(parse_azure_list(with(good)));
  for (const std::string& bad :
       {std::string(), std::string("<html></html>"), std::string("<EnumerationResults/>"),
        std::string(kList).substr(0, 400), replaced("<Name>a</Name>", ""),
        replaced("<Name>", "<Name Encoded='true'>%"), replaced("5", "-5"), replaced("5", "5x"),
        replaced("0x8D1", ""), replaced("Sun", "Mon"), replaced("Properties", "Nothing")}) {
    const auto page = parse_azure_list(bad);
    ASSERT_FALSE(page) << bad;
    EXPECT_EQ(page.error().code(), ErrorCode::kCorrupt) << bad;
  }
}

TEST(AzureAnswers, BlocksThatWaitAreRead) {
  const auto blocks = parse_azure_blocks(
      "<?xml version=\"1.0\"?><BlockList><CommittedBlocks><Block><Name>AAAA</Name><Size>1</Size>"
      "</Block></CommittedBlocks><UncommittedBlocks><Block><Name>BBBB</Name><Size>4194304</Size>"
      "</Block></UncommittedBlocks></BlockList>");
  ASSERT_TRUE(blocks) << blocks.error().to_string();
  ASSERT_EQ(blocks->size(), 1U);
  EXPECT_EQ(blocks->front().id, "BBBB");
  EXPECT_EQ(blocks->front().size, 4194304U);
  EXPECT_TRUE(parse_azure_blocks("<BlockList/>")->empty());
  EXPECT_FALSE(parse_azure_blocks("<Other/>"));
  EXPECT_FALSE(
      parse_azure_blocks("<BlockList><UncommittedBlocks><Block><Name>B</Name></Block></"
                         "UncommittedBlocks></BlockList>"));
  EXPECT_EQ(azure_block_list({"AA==", "BB=="}),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList><Latest>AA==</Latest>"
            "<Latest>BB==</Latest></BlockList>");
}

TEST(AzureAnswers, HeadersTellOfTheObject) {
  sys::HttpResponse answer{.status = 200,
                           .headers = {{"etag", "\"0x8D1\""},
                                       {"last-modified", "Sun, 15 Nov 2026 08:00:00 GMT"},
                                       {"content-length", "7"},
                                       {"x-ms-meta-outlastcrc32c", "c994237a"}}};
  const auto object = parse_azure_object("k", answer);
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_EQ(object->key, "k");
  EXPECT_EQ(object->size, 7U);
  EXPECT_EQ(object->version, "0x8D1");
  EXPECT_EQ(object->crc32c, 0xc994237aU);
  answer.status = 206;
  EXPECT_FALSE(parse_azure_object("k", answer)) << "a part must say of how much";
  answer.headers.emplace_back("Content-Range", "bytes 0-6/100");
  answer.headers[3].second = "nonsense";
  EXPECT_EQ(parse_azure_object("k", answer)->size, 100U);
  EXPECT_FALSE(parse_azure_object("k", answer)->crc32c);
}

TEST(AzureAnswers, NoVersionBecomesAHeaderThatMatchesEverything) {
  EXPECT_EQ(azure_etag("0x8D1"), "\"0x8D1\"");
  EXPECT_EQ(azure_etag("*"), "\"*\"");
  for (const char* odd : {"", "a\r\nb", "a\"b", "a b", "\xc3\xa9"}) {
    EXPECT_EQ(azure_etag(odd), "\"0x0\"") << odd;
  }
}

TEST(AzureAnswers, AProblemIsNamedByHeaderOrBody) {
  const std::string body =
      "\xEF\xBB\xBF<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code><Message>Server "
      "failed.\nRequestId:1</Message><AuthenticationErrorDetail>Signed expiry time"
      "</AuthenticationErrorDetail></Error>";
  AzureProblem problem = parse_azure_problem({.status = 403, .body = body});
  EXPECT_EQ(problem.code, "AuthenticationFailed");
  EXPECT_EQ(problem.message, "Server failed");
  EXPECT_EQ(problem.detail, "Signed expiry time");
  problem = parse_azure_problem({.status = 404, .headers = {{"x-ms-error-code", "BlobNotFound"}}});
  EXPECT_EQ(problem.code, "BlobNotFound");
  problem = parse_azure_problem({.status = 502, .body = "<html>Bad gateway</html>"});
  EXPECT_EQ(problem.code + problem.message + problem.detail, "");
}

TEST(AzureAnswers, EveryAnswerThatWasEverInterestingKeepsThePromises) {
  sys::testing::real_world().run([](sys::World& world, const std::string&) {
    const std::string folder = OUTLAST_SOURCE_DIR "/tests/corpus/azure_answers";
    const auto entries = world.files.list(folder);
    ASSERT_TRUE(entries) << entries.error().to_string();
    ASSERT_FALSE(entries->empty());
    for (const auto& entry : *entries) {
      const auto bytes = sys::read_file(world.files, folder + "/" + entry.name, 1U << 20U);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      testing::fuzz_azure_answers(*bytes);
    }
  });
}

}  // namespace
}  // namespace outlast::store
