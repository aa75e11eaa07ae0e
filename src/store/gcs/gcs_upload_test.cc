#include "store/gcs/gcs_upload.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/secret.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/testing/gcs_rig.h"
#include "store/gcs/testing/scripted_http_client.h"
#include "store/object_store.h"
#include "sys/http.h"
#include "sys/posix_world.h"

namespace outlast::store::gcs {
namespace {

using testing::GcsRig;
using testing::ScriptedHttpClient;

constexpr std::uint64_t kGranule = kUploadGranule;
constexpr const char* kSession = "https://gcs.test/session?upload_id=secret-id";

// Two parts of two granules each, of which the last is 10 bytes short.
class GcsUploadTest : public ::testing::Test {
 protected:
  static std::string make_text(std::uint64_t bytes) {
    std::string text(bytes, '\0');
    for (std::uint64_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 % 251);
    return text;
  }
  void TearDown() override { EXPECT_TRUE(http_.is_done()); }

  static sys::HttpResponse holds(std::uint64_t bytes) {
    if (bytes == 0) return {.status = 308};
    return {.status = 308, .headers = {{"Range", fmt::format("bytes=0-{}", bytes - 1)}}};
  }
  sys::HttpResponse object(std::string_view content) const {
    return {.status = 200,
            .body = fmt::format(R"({{"name":"a","size":"{}","generation":"17","crc32c":"{}"}})",
                                content.size(), format_crc32c(crc32c(as_bytes(content))))};
  }
  static sys::HttpResponse refusal(std::string_view message) {
    const Json body = {{"error", {{"code", 400}, {"message", message}}}};
    return {.status = 400, .body = canonical_json(body)};
  }
  static Error lost() { return {ErrorCode::kUnknownOutcome, "the connection broke"}; }

  std::unique_ptr<Upload> start() {
    http_.plan(sys::HttpResponse{.status = 200, .headers = {{"Location", kSession}}});
    auto upload = rig_.store().start_upload("a", plan_, {});
    EXPECT_TRUE(upload) << upload.error().to_string();
    return upload ? *std::move(upload) : nullptr;
  }
  BytesView part(std::uint64_t index) const {
    return as_bytes(
        std::string_view(text_).substr(index * plan_.part_bytes, plan_.bytes_of(index)));
  }
  // Both parts, without trouble.
  void put_parts(Upload& upload) {
    http_.plan(holds(2 * kGranule));
    http_.plan(holds(3 * kGranule));
    ASSERT_TRUE(upload.put_part(0, part(0), {}));
    ASSERT_TRUE(upload.put_part(1, part(1), {}));
  }
  std::string last_range() const { return http_.sent().back().header("Content-Range"); }

  const UploadPlan plan_{
      .size = 4 * kGranule - 10, .part_bytes = 2 * kGranule, .condition = WriteIf::absent()};
  const std::string text_ = make_text(plan_.size);
  sys::RealWorld real_;
  ScriptedHttpClient http_;
  GcsRig rig_{http_, real_.world().clock, "https://gcs.test"};
};

TEST_F(GcsUploadTest, TheLastBytesWaitForComplete) {
  const auto upload = start();
  EXPECT_EQ(http_.sent()[0].url,
            "https://gcs.test/upload/storage/v1/b/bkt-1/o?uploadType=resumable&name=a"
            "&ifGenerationMatch=0");
  EXPECT_EQ(http_.sent()[0].header("X-Upload-Content-Length"), "1048566");
  put_parts(*upload);
  EXPECT_EQ(http_.sent()[1].header("Content-Range"), "bytes 0-524287/1048566");
  EXPECT_EQ(http_.sent()[2].header("Content-Range"), "bytes 524288-786431/1048566");
  EXPECT_EQ(http_.sent()[1].header("Authorization"), "(none)");
  http_.plan(object(text_));
  const auto version = upload->complete({});
  ASSERT_TRUE(version) << version.error().to_string();
  EXPECT_EQ(*version, "17");
  EXPECT_EQ(last_range(), "bytes 786432-1048565/1048566");
  EXPECT_EQ(http_.sent().back().body, text_.substr(3 * kGranule));
  EXPECT_EQ(http_.sent().back().header("x-goog-hash"),
            "crc32c=" + format_crc32c(crc32c(as_bytes(text_))));
}

TEST_F(GcsUploadTest, AChunkThatWasKeptInPartGoesOn) {
  const auto upload = start();
  http_.plan(holds(kGranule));
  http_.plan(holds(2 * kGranule));
  ASSERT_TRUE(upload->put_part(0, part(0), {}));
  EXPECT_EQ(last_range(), "bytes 262144-524287/1048566");
  EXPECT_EQ(http_.sent().back().body, text_.substr(kGranule, kGranule));
}

TEST_F(GcsUploadTest, AChunkOfWhichNothingWasKeptIsUnavailable) {
  const auto upload = start();
  http_.plan(holds(0));
  EXPECT_EQ(upload->put_part(0, part(0), {}).error().code(), ErrorCode::kUnavailable);
  http_.plan(holds(2 * kGranule));
  EXPECT_TRUE(upload->put_part(0, part(0), {}));
}

TEST_F(GcsUploadTest, AfterALostAnswerTheSessionIsAsked) {
  const auto upload = start();
  http_.plan(lost());
  EXPECT_EQ(upload->put_part(0, part(0), {}).error().code(), ErrorCode::kUnknownOutcome);
  http_.plan(holds(kGranule));
  http_.plan(holds(2 * kGranule));
  ASSERT_TRUE(upload->put_part(0, part(0), {}));
  EXPECT_EQ(http_.sent()[2].header("Content-Range"), "bytes */1048566");
  EXPECT_EQ(http_.sent()[2].body, "");
  EXPECT_EQ(last_range(), "bytes 262144-524287/1048566");
}

TEST_F(GcsUploadTest, AServerFaultIsFollowedByTheQuestionToo) {
  const auto upload = start();
  http_.plan(sys::HttpResponse{.status = 503});
  EXPECT_EQ(upload->put_part(0, part(0), {}).error().code(), ErrorCode::kUnavailable);
  http_.plan(holds(2 * kGranule));
  EXPECT_TRUE(upload->put_part(0, part(0), {}));
  EXPECT_EQ(last_range(), "bytes */1048566");
}

TEST_F(GcsUploadTest, StoredBytesCannotBeReplaced) {
  const auto upload = start();
  http_.plan(holds(2 * kGranule));
  ASSERT_TRUE(upload->put_part(0, part(0), {}));
  ASSERT_TRUE(upload->put_part(0, part(0), {}));  // the same again: nothing is sent
  const std::string other(plan_.part_bytes, 'x');
  EXPECT_EQ(upload->put_part(0, as_bytes(other), {}).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GcsUploadTest, BytesThatWereNotStoredCanBeReplaced) {
  const auto upload = start();
  http_.plan(Error(ErrorCode::kUnavailable, "nobody listens"));
  const std::string other(plan_.part_bytes, 'x');
  EXPECT_FALSE(upload->put_part(0, as_bytes(other), {}));
  put_parts(*upload);
  http_.plan(object(text_));
  EXPECT_TRUE(upload->complete({}));
}

TEST_F(GcsUploadTest, PartsAreTakenInOrder) {
  const auto upload = start();
  EXPECT_EQ(upload->put_part(1, part(1), {}).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GcsUploadTest, TheAnswerToTheLastBytesIsAskedForAgain) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(lost());
  http_.plan(object(text_));
  EXPECT_EQ(upload->complete({}).value_or("(failed)"), "17");
  EXPECT_EQ(last_range(), "bytes */1048566");
}

TEST_F(GcsUploadTest, WhenNobodyTellsTheOutcomeIsUnknown) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(sys::HttpResponse{.status = 500});
  http_.plan(lost());
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kUnknownOutcome);
  http_.plan(holds(3 * kGranule));
  http_.plan(object(text_));
  EXPECT_EQ(upload->complete({}).value_or("(failed)"), "17");
}

TEST_F(GcsUploadTest, ASessionThatIsGoneAfterItsLastBytesMayBeComplete) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(lost());
  http_.plan(sys::HttpResponse{.status = 410});
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kUnknownOutcome);
  http_.plan(sys::HttpResponse{.status = 404});
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kUnknownOutcome);
}

TEST_F(GcsUploadTest, ASessionThatIsGoneIsNotFound) {
  const auto upload = start();
  http_.plan(sys::HttpResponse{.status = 410});
  EXPECT_EQ(upload->put_part(0, part(0), {}).error().code(), ErrorCode::kNotFound);
}

TEST_F(GcsUploadTest, ALostConditionIsTold) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(sys::HttpResponse{.status = 412});
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kAlreadyExists);
}

TEST_F(GcsUploadTest, DamagedPartsAreCorrupt) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(refusal("Provided CRC32C \"AAAAAA==\" doesn't match calculated CRC32C \"4waSgw==\"."));
  const auto version = upload->complete({});
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(version.error().to_string().find("start the upload again from the beginning"),
            std::string::npos);
}

TEST_F(GcsUploadTest, LastBytesThatAreRefusedForAnotherReasonAreNotCalledDamaged) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(refusal("Invalid argument."));
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GcsUploadTest, AServerThatMakesAnotherObjectIsCaught) {
  const auto upload = start();
  put_parts(*upload);
  http_.plan(object(std::string(plan_.size, 'x')));
  EXPECT_EQ(upload->complete({}).error().code(), ErrorCode::kCorrupt);
}

TEST_F(GcsUploadTest, AServerThatEndsOnAQuestionIsCaught) {
  http_.plan(object(text_.substr(0, 100)));
  const auto upload = rig_.store().resume_upload("a", plan_, Secret<std::string>(kSession), {});
  ASSERT_FALSE(upload);
  EXPECT_EQ(upload.error().code(), ErrorCode::kCorrupt);
}

TEST_F(GcsUploadTest, AServerThatEndsTooEarlyIsCaught) {
  const auto upload = start();
  http_.plan(object(text_));
  EXPECT_EQ(upload->put_part(0, part(0), {}).error().code(), ErrorCode::kFailed);
}

TEST_F(GcsUploadTest, ResumingFindsWholeParts) {
  http_.plan(holds(3 * kGranule));
  const auto upload = rig_.store().resume_upload("a", plan_, Secret<std::string>(kSession), {});
  ASSERT_TRUE(upload) << upload.error().to_string();
  // Of the last part a granule is there, but its last bytes were kept back by whoever is gone.
  EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ((*upload)->complete({}).error().code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE((*upload)->put_part(1, part(1), {}));  // nothing is sent
  http_.plan(object(text_));
  EXPECT_EQ((*upload)->complete({}).value_or("(failed)"), "17");
  EXPECT_EQ(last_range(), "bytes 786432-1048565/1048566");
  EXPECT_EQ(http_.sent().back().header("x-goog-hash"), "(none)");
}

TEST_F(GcsUploadTest, ResumingFindsWhatIsComplete) {
  http_.plan(object(text_));
  const auto upload = rig_.store().resume_upload("a", plan_, Secret<std::string>(kSession), {});
  ASSERT_TRUE(upload) << upload.error().to_string();
  EXPECT_EQ((*upload)->stored_parts(), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ((*upload)->complete({}).value_or("(failed)"), "17");
}

TEST_F(GcsUploadTest, ATokenThatIsNoneIsNotFound) {
  const auto upload =
      rig_.store().resume_upload("a", plan_, Secret<std::string>("no-url-at-all"), {});
  ASSERT_FALSE(upload);
  EXPECT_EQ(upload.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(upload.error().to_string().find("no-url-at-all"), std::string::npos);
}

TEST_F(GcsUploadTest, CancellingIsDoneWhateverGoogleCallsIt) {
  for (const int status : {204, 404, 410, 499}) {
    const auto upload = start();
    http_.plan(sys::HttpResponse{.status = status});
    EXPECT_TRUE(upload->abort({})) << status;
    EXPECT_EQ(http_.sent().back().method, "DELETE");
  }
  const auto upload = start();
  http_.plan(sys::HttpResponse{.status = 503});
  EXPECT_EQ(upload->abort({}).error().code(), ErrorCode::kUnavailable);
}

TEST_F(GcsUploadTest, TheSessionIsInNoSentence) {
  const auto upload = start();
  EXPECT_EQ(upload->token().reveal(), kSession);
  for (const int status : {400, 403, 410, 500}) {
    http_.plan(sys::HttpResponse{.status = status});
    const auto put = upload->put_part(0, part(0), {});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().to_string().find("secret-id"), std::string::npos);
    EXPECT_NE(put.error().to_string().find("gs://bkt-1/a"), std::string::npos);
    if (status != 410) {
      http_.plan(holds(0));  // what it is asked before the next try
      http_.plan(sys::HttpResponse{.status = 410});
      EXPECT_FALSE(upload->put_part(0, part(0), {}));
    }
  }
}

}  // namespace
}  // namespace outlast::store::gcs
