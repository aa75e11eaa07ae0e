#include "cloud/credential_http.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/testing/fake_world.h"

namespace outlast::cloud {
namespace {

using std::chrono::seconds;
using testing::FakeWorld;

TEST(AskIssuer, RepeatsWhatMayPass) {
  FakeWorld fake;
  fake.http.expect({.url = "https://t/x", .fails_with = ErrorCode::kUnknownOutcome});
  fake.http.expect({.url = "https://t/x", .answer = {.status = 503}});
  fake.http.expect({.url = "https://t/x", .answer = {.status = 200, .body = "ok"}});
  const Result<sys::HttpResponse> answer =
      ask_issuer(fake.http, fake.clock, {.url = "https://t/x"}, {});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "ok");
}

TEST(AskIssuer, DoesNotRepeatARefusal) {
  FakeWorld fake;
  fake.http.expect({.url = "https://t/x", .answer = {.status = 400}});
  EXPECT_EQ(ask_issuer(fake.http, fake.clock, {.url = "https://t/x"}, {})->status, 400);
  fake.http.expect({.url = "https://t/x", .answer = {.status = 410}});
  fake.http.expect({.url = "https://t/x", .answer = {.status = 200}});
  EXPECT_EQ(
      ask_issuer(fake.http, fake.clock, {.url = "https://t/x", .also_repeat = {410}}, {})->status,
      200);
}

TEST(AskIssuer, StopsWhenTheCallerDoes) {
  FakeWorld fake;
  std::stop_source stop;
  stop.request_stop();
  fake.http.expect({.url = "https://t/x", .answer = {.status = 500}});
  const Result<sys::HttpResponse> answer =
      ask_issuer(fake.http, fake.clock, {.url = "https://t/x"}, {.stop = stop.get_token()});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), ErrorCode::kCancelled);
}

std::string refusal(int status, std::string body) {
  return issuer_refusal({.url = "https://u:p@t/x?q=secret"},
                        {.status = status, .body = std::move(body)}, {"s3cr/t"}, "do this")
      .to_string();
}

TEST(IssuerRefusal, ReadsTheWordsOfAllThreeClouds) {
  EXPECT_EQ(refusal(400, R"({"error":"invalid_grant","error_description":"Bad."})"),
            "GET https://t/x was answered with 400 (invalid_grant: Bad): do this");
  EXPECT_EQ(refusal(403, R"({"error":{"code":403,"message":"m","status":"PERMISSION_DENIED"}})"),
            "GET https://t/x was answered with 403 (PERMISSION_DENIED: m): do this");
  EXPECT_EQ(
      refusal(403,
              "<ErrorResponse><Error><Code>C</Code><Message>M</Message></Error></ErrorResponse>"),
      "GET https://t/x was answered with 403 (C: M): do this");
  EXPECT_EQ(refusal(400, R"({"code":"C"})"), "GET https://t/x was answered with 400 (C): do this");
  EXPECT_EQ(refusal(500, "<html>"), "GET https://t/x was answered with 500: do this");
}

TEST(IssuerRefusal, BlotsOutSecretsAndTamesTheRest) {
  EXPECT_EQ(refusal(400, R"({"error":"e","error_description":"s3cr/t or s3cr%2Ft\n\u001b[31m"})"),
            "GET https://t/x was answered with 400 (e: [secret] or [secret]  [31m): do this");
  EXPECT_LT(refusal(400, R"({"error":")" + std::string(10'000, 'x') + "\"}").size(), 500U);
}

TEST(IssuerRefusal, TheCodeTellsWhetherToTryAgain) {
  const auto code = [](int status) {
    return issuer_refusal({.url = "https://t"}, {.status = status}, {}, "").code();
  };
  EXPECT_EQ(code(401), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(429), ErrorCode::kThrottled);
  EXPECT_EQ(code(503), ErrorCode::kUnavailable);
  EXPECT_EQ(code(302), ErrorCode::kFailed);
}

TEST(IssuerSeconds, TakesNumbersAndText) {
  const IssuerCall call = {.url = "https://t"};
  EXPECT_EQ(issuer_seconds(call, {{"e", 3599}}, "e").value(), seconds(3599));
  EXPECT_EQ(issuer_seconds(call, {{"e", 3599.7}}, "e").value(), seconds(3599));
  EXPECT_EQ(issuer_seconds(call, {{"e", "3599"}}, "e").value(), seconds(3599));
  EXPECT_GT(issuer_seconds(call, {{"e", 1e300}}, "e").value(), seconds(1));
  EXPECT_GT(issuer_seconds(call, {{"e", "9223372036854775807"}}, "e").value(), seconds(1));
  for (const Json& bad : {Json(0), Json(-5), Json(""), Json("1x"), Json(nullptr), Json("-1"),
                          Json(true), Json::array()}) {
    EXPECT_FALSE(issuer_seconds(call, {{"e", bad}}, "e").has_value()) << bad.dump();
  }
  EXPECT_FALSE(issuer_seconds(call, Json::object(), "e").has_value());
}

TEST(LifetimeUntil, GoesByTheirClockIfTheyTellIt) {
  FakeWorld fake;
  const std::string expiry = "2027-01-15T09:00:00Z";
  EXPECT_EQ(lifetime_until(expiry, {}, fake.clock).value(), std::chrono::hours(1));
  EXPECT_EQ(lifetime_until(expiry, {{"date", "Fri, 15 Jan 2027 08:30:00 GMT"}}, fake.clock).value(),
            std::chrono::minutes(30));
  EXPECT_EQ(lifetime_until(expiry, {{"date", "today"}}, fake.clock).value(), std::chrono::hours(1));
  EXPECT_EQ(lifetime_until("2027-01-15T08:00:00Z", {}, fake.clock).error().code(),
            ErrorCode::kUnavailable);
  EXPECT_EQ(lifetime_until("never", {}, fake.clock).error().code(), ErrorCode::kFailed);
}

TEST(IssuerUrl, FindsTheHost) {
  EXPECT_EQ(url_host("https://Example.COM:8443/a@b"), "example.com");
  EXPECT_EQ(url_host("http://[::1]:80/"), "::1");
  EXPECT_EQ(url_host("http://127.0.0.1@evil/"), "");
  EXPECT_EQ(url_host("http://127.0.0.1\\@evil/"), "");
  EXPECT_EQ(url_host("http://127.0.0.1\\.evil/"), "");
  EXPECT_EQ(url_host("nothing"), "");
}

TEST(IssuerUrl, SecretsGoOverTlsOrStayHere) {
  EXPECT_TRUE(check_issuer_url("https://a/b", "x").has_value());
  EXPECT_TRUE(check_issuer_url("http://127.0.0.1:80/b", "x").has_value());
  EXPECT_TRUE(check_issuer_url("http://localhost", "x").has_value());
  for (const char* url : {"http://a", "http://127.0.0.1@a/", "http://127.0.0.1.a/", "ftp://a",
                          "https://", "https://a b", "https://a\n", "", "a"}) {
    EXPECT_FALSE(check_issuer_url(url, "x").has_value()) << url;
  }
}

}  // namespace
}  // namespace outlast::cloud
