#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::cloud::testing {

// One request that must come, and what it is answered with.
struct FakeExchange {
  std::string method = "GET";
  std::string url = {};                   // whole, with its query
  sys::HttpHeaders headers = {};          // must be among those sent, with exactly these values
  std::vector<std::string> without = {};  // headers that must not be sent
  std::optional<std::string> body = {};   // if set, exactly this
  std::optional<bool> direct = {};

  sys::HttpResponse answer = {.status = 200};
  std::optional<ErrorCode> fails_with = {};  // instead of the answer
};

// An HTTP client that knows exactly which requests come, in which order, and fails the test at any
// other. Thread-safe.
class FakeHttp : public sys::HttpClient {
 public:
  void expect(FakeExchange exchange) {
    const MutexLock lock(mutex_);
    expected_.push_back(std::move(exchange));
  }
  // Nobody is there: every request to a URL that begins like this is kUnavailable.
  void nobody_at(std::string url_start) {
    const MutexLock lock(mutex_);
    nobody_at_.push_back(std::move(url_start));
  }

  // How many requests came so far; those to nobody count, too.
  std::size_t count() {
    const MutexLock lock(mutex_);
    return requests_.size();
  }
  // The body of the request that came last.
  std::string last_body() {
    const MutexLock lock(mutex_);
    return requests_.empty() ? "" : requests_.back();
  }
  // What was expected and did not come.
  std::size_t missing() {
    const MutexLock lock(mutex_);
    return expected_.size();
  }

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext& /*ctx*/) override {
    const MutexLock lock(mutex_);
    requests_.emplace_back(as_text(request.body));
    for (const std::string& start : nobody_at_) {
      if (request.url.starts_with(start)) {
        return Error(ErrorCode::kUnavailable, "nobody listens at " + shown(request.url));
      }
    }
    if (expected_.empty()) {
      ADD_FAILURE() << "unexpected " << request.method << " " << request.url;
      return Error(ErrorCode::kFailed, "unexpected");
    }
    const FakeExchange exchange = std::move(expected_.front());
    expected_.pop_front();
    check(exchange, request);
    if (exchange.fails_with) {
      return Error(*exchange.fails_with, "no answer from " + shown(request.url));
    }
    return exchange.answer;
  }

 private:
  static std::string shown(const std::string& url) { return url.substr(0, url.find('?')); }

  static void check(const FakeExchange& exchange, const sys::HttpRequest& request) {
    EXPECT_EQ(request.method, exchange.method);
    EXPECT_EQ(request.url, exchange.url);
    for (const auto& [name, value] : exchange.headers) {
      EXPECT_EQ(sys::find_header(request.headers, name).value_or("(none)"), value) << name;
    }
    for (const std::string& name : exchange.without) {
      EXPECT_FALSE(sys::find_header(request.headers, name).has_value()) << name;
    }
    EXPECT_EQ(as_text(request.body), exchange.body.value_or(std::string(as_text(request.body))));
    EXPECT_EQ(request.direct, exchange.direct.value_or(request.direct));
  }

  Mutex mutex_;
  std::deque<FakeExchange> expected_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<std::string> nobody_at_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ OUTLAST_GUARDED_BY(mutex_);  // their bodies
};

}  // namespace outlast::cloud::testing
