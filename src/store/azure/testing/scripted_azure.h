#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
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
#include "store/azure/azure_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store::testing {

// An Azure that says what it was told to say, and remembers what it was asked. Confined to its
// owner.
class ScriptedAzure : public sys::HttpClient, public sys::Clock {
 public:
  struct Request {
    std::string method = {};
    std::string url = {};
    sys::HttpHeaders headers = {};
    std::string body = {};
    std::uint64_t gathered_bytes_max = 0;

    std::string header(std::string_view name) const {
      return std::string(sys::find_header(headers, name).value_or("(none)"));
    }
  };

  void answer(int status, sys::HttpHeaders headers = {}, std::string body = {}) {
    answers_.push_back(sys::HttpResponse{
        .status = status, .headers = std::move(headers), .body = std::move(body)});
  }
  // An error as Azure tells it: by header, and by a body that a HEAD would not have.
  void refuse(int status, const std::string& code, const std::string& message = "No.") {
    answer(status, {{"x-ms-error-code", code}, {"Date", "Sun, 15 Nov 2026 08:30:00 GMT"}},
           "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>" + message +
               "\nRequestId:1\nTime:2</Message></Error>");
  }
  void fail(ErrorCode code) { answers_.emplace_back(Error(code, "no answer")); }

  const std::vector<Request>& requests() const { return requests_; }
  const Request& last() const { return requests_.back(); }
  std::size_t unsaid() const { return answers_.size(); }

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext& /*ctx*/) override {
    requests_.push_back({.method = request.method,
                         .url = request.url,
                         .headers = request.headers,
                         .body = std::string(as_text(request.body)),
                         .gathered_bytes_max = request.gathered_bytes_max});
    if (answers_.empty()) {
      ADD_FAILURE() << "nothing to answer to " << request.method << " " << request.url;
      return Error(ErrorCode::kFailed, "nothing to answer");
    }
    Result<sys::HttpResponse> answer = std::move(answers_.front());
    answers_.pop_front();
    if (!answer || answer->status < 200 || answer->status > 299 || !request.sink) return answer;
    // In two pieces, so that nobody takes one for the whole.
    const std::string body = std::exchange(answer->body, {});
    const std::size_t half = (body.size() + 1) / 2;
    for (const std::string_view piece :
         {std::string_view(body).substr(0, half), std::string_view(body).substr(half)}) {
      if (!piece.empty()) OUTLAST_TRY(request.sink(*answer, as_bytes(piece)));
    }
    return answer;
  }

  MonoTime mono_now() override { return {}; }
  WallTime wall_now() override { return parse_rfc3339("2026-11-15T08:30:00Z").value(); }
  Result<void> sleep_until(MonoTime /*when*/, const sys::CallContext& /*ctx*/) override {
    return {};
  }

 private:
  std::deque<Result<sys::HttpResponse>> answers_;
  std::vector<Request> requests_;
};

// Credentials that count how often they were refused, and are other ones each time.
class CountedCredentials : public cloud::CredentialSource<cloud::AzureAuth> {
 public:
  explicit CountedCredentials(cloud::AzureAuth auth) : auth_(std::move(auth)) {}
  Result<cloud::AzureAuth> get(const sys::CallContext& /*ctx*/) override { return auth_; }
  void forget() override { ++forgotten_; }
  std::string origin() override { return "a test"; }
  int forgotten() const { return forgotten_; }

 private:
  const cloud::AzureAuth auth_;
  int forgotten_ = 0;
};

inline sys::HttpHeaders object_headers(std::size_t size) {
  return {{"ETag", "\"0x8D1\""},
          {"Last-Modified", "Sun, 15 Nov 2026 08:00:00 GMT"},
          {"Content-Length", std::to_string(size)}};
}

// The container az://acc/jobs, opened with an account key that is the text "key".
struct ScriptedStore {
  ScriptedAzure azure = {};
  CountedCredentials credentials{
      cloud::AzureSharedKey{Secret<Bytes>(Bytes(as_bytes("key").begin(), as_bytes("key").end()))}};
  std::unique_ptr<ObjectStore> store =
      make_azure_store({.account = "acc", .container = "jobs"}, azure, azure, credentials);

  ScriptedStore() = default;
  explicit ScriptedStore(cloud::AzureAuth auth) : credentials(std::move(auth)) {}
};

}  // namespace outlast::store::testing
