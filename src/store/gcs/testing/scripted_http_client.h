#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs::testing {

// Answers requests with what was planned for them, in order, and keeps them. Confined to the test.
class ScriptedHttpClient : public sys::HttpClient {
 public:
  struct Sent {
    std::string method = {};
    std::string url = {};
    sys::HttpHeaders headers = {};
    std::string body = {};
    std::string header(std::string_view name) const {
      return std::string(sys::find_header(headers, name).value_or("(none)"));
    }
  };

  void plan(std::variant<sys::HttpResponse, Error> answer) {
    planned_.push_back(std::move(answer));
  }
  const std::vector<Sent>& sent() const { return sent_; }
  bool is_done() const { return planned_.empty(); }

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext& /*ctx*/) override {
    Sent sent{.method = request.method,
              .url = request.url,
              .headers = request.headers,
              .body = std::string(as_text(request.body))};
    if (request.streamed_body != nullptr) {
      sent.body.resize(request.streamed_body->size());
      const auto bytes = std::as_writable_bytes(std::span(sent.body));
      OUTLAST_TRY_ASSIGN(const std::size_t read, request.streamed_body->read_at(bytes, 0));
      EXPECT_EQ(read, sent.body.size());
    }
    sent_.push_back(std::move(sent));
    if (planned_.empty()) {
      ADD_FAILURE() << "nobody expected " << request.method << " " << request.url;
      return Error(ErrorCode::kFailed, "not planned");
    }
    const std::variant<sys::HttpResponse, Error> next = std::move(planned_.front());
    planned_.pop_front();
    if (const Error* const error = std::get_if<Error>(&next)) return *error;
    sys::HttpResponse answer = std::get<sys::HttpResponse>(next);
    if (!request.sink || answer.status < 200 || answer.status >= 300) return answer;
    const std::string body = std::exchange(answer.body, {});
    // Byte by byte: no reader may rely on more at once.
    for (const std::byte& byte : as_bytes(body)) {
      OUTLAST_TRY(request.sink(answer, BytesView(&byte, 1)));
    }
    return answer;
  }

 private:
  std::deque<std::variant<sys::HttpResponse, Error>> planned_;
  std::vector<Sent> sent_;
};

}  // namespace outlast::store::gcs::testing
