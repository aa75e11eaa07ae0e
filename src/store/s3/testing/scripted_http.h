#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

// What the tests of the S3 store have in common.
namespace outlast::store::s3::testing {

// A request as it was sent, with what a test looks at.
struct SentRequest {
  std::string method = {};
  std::string url = {};
  sys::HttpHeaders headers = {};
  std::string body = {};

  std::string header(std::string_view name) const {
    return std::string(sys::find_header(headers, name).value_or(""));
  }
  bool has(std::string_view name) const { return sys::find_header(headers, name).has_value(); }
  std::string signed_region() const {
    const std::string text = header("Authorization");
    const std::size_t begin = text.find('/', text.find('/') + 1) + 1;
    return text.substr(begin, text.find('/', begin) - begin);
  }
};

// Gives the answers it was told, in order, and keeps the requests. Confined to its owner.
class ScriptedHttp final : public sys::HttpClient {
 public:
  void answer(int status, sys::HttpHeaders headers = {}, std::string body = {}) {
    script_.push_back(sys::HttpResponse{
        .status = status, .headers = std::move(headers), .body = std::move(body)});
  }
  void refuse(int status, std::string_view code, sys::HttpHeaders headers = {},
              std::string_view more = "") {
    answer(status, std::move(headers),
           "<?xml version=\"1.0\"?><Error><Code>" + std::string(code) +
               "</Code><Message>in words</Message>" + std::string(more) +
               "<RequestId>R1</RequestId></Error>");
  }
  void fail(ErrorCode code) { script_.push_back(Error(code, "the wire broke")); }

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext&) override {
    sent.push_back({.method = request.method,
                    .url = request.url,
                    .headers = request.headers,
                    .body = std::string(as_text(request.body))});
    if (next_ == script_.size()) return Error(ErrorCode::kFailed, "the script has ended");
    Result<sys::HttpResponse> response = script_[next_++];
    if (!response || !request.sink || response->status >= 300) return response;
    const std::string body = std::exchange(response->body, "");
    // In two pieces, because bodies come in pieces.
    for (const std::string_view piece : {std::string_view(body).substr(0, body.size() / 2),
                                         std::string_view(body).substr(body.size() / 2)}) {
      if (!piece.empty()) OUTLAST_TRY(request.sink(*response, as_bytes(piece)));
    }
    return response;
  }
  bool all_used() const { return next_ == script_.size(); }

  std::vector<SentRequest> sent = {};

 private:
  std::vector<Result<sys::HttpResponse>> script_;
  std::size_t next_ = 0;
};

// Stands still.
class StoppedClock final : public sys::Clock {
 public:
  MonoTime mono_now() override { return MonoTime(); }
  WallTime wall_now() override { return now; }
  Result<void> sleep_until(MonoTime, const sys::CallContext&) override { return {}; }

  WallTime now = parse_rfc3339("2026-01-02T03:04:05Z").value();
};

// Gives keys numbered by how often they were refused.
class NumberedKeys final : public cloud::CredentialSource<cloud::AwsKeys> {
 public:
  Result<cloud::AwsKeys> get(const sys::CallContext&) override {
    return cloud::AwsKeys{.access_key_id = "AK" + std::to_string(forgotten),
                          .secret_key = Secret<std::string>("hush-hush")};
  }
  void forget() override { ++forgotten; }
  std::string origin() override { return "the test"; }

  int forgotten = 0;
};

}  // namespace outlast::store::s3::testing
