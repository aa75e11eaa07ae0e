#include "store/azure/azure_upload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/azure/azure_answers.h"
#include "store/azure/testing/scripted_azure.h"

namespace outlast::store {
namespace {

using testing::object_headers;
using testing::ScriptedStore;

const UploadPlan kPlan{.size = 5, .part_bytes = 3};

TEST(AzureUpload, IdsSayWhatTheyAreAndHaveOneLength) {
  using Kind = AzureBlockId::Kind;
  const std::vector<AzureBlockId> ids = {
      {.nonce = "0123456789abcdef", .index = 0, .crc32c = 0},
      {.nonce = "0123456789abcdef", .index = 49'999, .crc32c = 0xffffffff},
      {.nonce = "fedcba9876543210", .kind = Kind::kBegin, .crc32c = 7},
      {.nonce = "fedcba9876543210", .kind = Kind::kAbort, .crc32c = 7}};
  for (const AzureBlockId& id : ids) {
    const std::string text = format_block_id(id);
    EXPECT_EQ(text.size(), 40U);
    const auto back = parse_block_id(text);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(back->nonce, id.nonce);
    EXPECT_EQ(back->kind, id.kind);
    EXPECT_EQ(back->index, id.index);
    EXPECT_EQ(back->crc32c, id.crc32c);
  }
  for (const char* raw : {"", "0123456789abcdef000001", "0123456789abcdef00000x00000000",
                          "0123456789abcdef0000010000000x", "0123456789abcdef0000010000000A",
                          "0123456789abcdef    1 00000000", "another program's block number"}) {
    EXPECT_FALSE(parse_block_id(base64_encode(as_bytes(raw)))) << raw;
  }
  EXPECT_FALSE(parse_block_id("not base64!"));
}

TEST(AzureUpload, PartsArePutAsBlocksAndPublishedAsAList) {
  ScriptedStore scripted;
  scripted.azure.answer(201);
  const auto upload = scripted.store->start_upload("a b", kPlan, {});
  ASSERT_TRUE(upload) << upload.error().to_string();
  scripted.azure.answer(201);
  scripted.azure.answer(201);
  ASSERT_TRUE((*upload)->put_part(1, as_bytes("lo"), {}));
  EXPECT_TRUE(scripted.azure.last().url.starts_with(
      "https://acc.blob.core.windows.net/jobs/a%20b?comp=block&blockid="));
  EXPECT_EQ(scripted.azure.last().header("Content-MD5"), base64_encode(md5(as_bytes("lo"))));
  ASSERT_TRUE((*upload)->put_part(0, as_bytes("hel"), {}));
  scripted.azure.answer(201, {{"ETag", "\"0x8D1\""}});
  EXPECT_EQ((*upload)->complete({}).value(), "0x8D1");
  const std::string nonce = (*upload)->token().reveal();
  EXPECT_EQ(scripted.azure.last().body,
            azure_block_list(
                {format_block_id({.nonce = nonce, .index = 0, .crc32c = crc32c(as_bytes("hel"))}),
                 format_block_id({.nonce = nonce, .index = 1, .crc32c = crc32c(as_bytes("lo"))})}));
  EXPECT_EQ(scripted.azure.last().header(kAzureCrc32cHeader),
            fmt::format("{:08x}", crc32c(as_bytes("hello"))));
  EXPECT_EQ((*upload)->complete({}).error().code(), ErrorCode::kNotFound);
}

TEST(AzureUpload, TwoUploadsOfOneObjectDoNotMix) {
  ScriptedStore scripted;
  scripted.azure.answer(201);
  scripted.azure.answer(201);
  const auto one = scripted.store->start_upload("a", kPlan, {});
  const auto other = scripted.store->start_upload("a", kPlan, {});
  EXPECT_NE((*one)->token().reveal(), (*other)->token().reveal());
}

TEST(AzureUpload, ALostAnswerLeavesThePartToBePutAgain) {
  ScriptedStore scripted;
  scripted.azure.answer(201);
  const auto upload = scripted.store->start_upload("a", kPlan, {});
  ASSERT_TRUE(upload);
  scripted.azure.fail(ErrorCode::kUnknownOutcome);
  EXPECT_EQ((*upload)->put_part(0, as_bytes("hel"), {}).error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_TRUE((*upload)->stored_parts().empty());
  EXPECT_EQ((*upload)->complete({}).error().code(), ErrorCode::kInvalidArgument);
}

// Whichever Azure looks at first, the blocks or the condition, the one who lost hears that.
TEST(AzureUpload, PartsDroppedByAnotherWriteMeanThatTheConditionIsLost) {
  const auto complete = [](const WriteIf& condition, int head_status) {
    ScriptedStore scripted;
    scripted.azure.answer(201);
    scripted.azure.answer(201);
    const auto upload =
        scripted.store->start_upload("a", {.size = 1, .part_bytes = 1, .condition = condition}, {});
    EXPECT_TRUE((*upload)->put_part(0, as_bytes("x"), {}));
    scripted.azure.refuse(400, "InvalidBlockList");
    if (head_status == 200) scripted.azure.answer(200, object_headers(1));
    if (head_status == 404) scripted.azure.refuse(404, "BlobNotFound");
    const auto version = (*upload)->complete({});
    EXPECT_FALSE(version);
    EXPECT_EQ(scripted.azure.unsaid(), 0U);
    return version.error().code();
  };
  EXPECT_EQ(complete(WriteIf::absent(), 200), ErrorCode::kAlreadyExists);
  EXPECT_EQ(complete(WriteIf::absent(), 404), ErrorCode::kNotFound);
  EXPECT_EQ(complete(WriteIf::version_is("0x8D0"), 200), ErrorCode::kConditionFailed);
  EXPECT_EQ(complete(WriteIf::version_is("0x8D0"), 404), ErrorCode::kConditionFailed);
  EXPECT_EQ(complete(WriteIf::version_is("0x8D1"), 200), ErrorCode::kNotFound);
  EXPECT_EQ(complete(WriteIf::always(), 0), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace outlast::store
