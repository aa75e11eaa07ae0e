#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::store::gcs::testing {

// An HttpClient whose requests go straight to a handler, without a network between them: whatever
// the URL's host is. Thread-safe if the handler is.
class HandlerHttpClient : public sys::HttpClient {
 public:
  explicit HandlerHttpClient(sys::HttpHandler handler) : handler_(std::move(handler)) {}

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext& /*ctx*/) override {
    OUTLAST_TRY_ASSIGN(const sys::HttpUrl url, sys::check_http_request(request));
    sys::HttpServerRequest received{.method = request.method,
                                    .target = url.target,
                                    .headers = request.headers,
                                    .body = std::string(as_text(request.body))};
    if (request.streamed_body != nullptr) {
      OUTLAST_TRY_ASSIGN(received.body, read_all(*request.streamed_body));
    }
    received.headers.emplace_back("Host", url.authority);
    received.headers.emplace_back("Content-Length", std::to_string(received.body.size()));
    sys::HttpResponse answer = handler_(received);
    answer.headers.emplace_back("Content-Length", std::to_string(answer.body.size()));
    if (!request.sink || answer.status < 200 || answer.status >= 300) return answer;
    const std::string body = std::exchange(answer.body, {});
    BytesView rest = as_bytes(body);
    while (!rest.empty()) {
      const BytesView piece = rest.first(std::min(rest.size(), kPieceBytes));
      OUTLAST_TRY(request.sink(answer, piece));
      rest = rest.subspan(piece.size());
    }
    return answer;
  }

 private:
  static constexpr std::size_t kPieceBytes = 16U << 10U;

  // In small steps that end nowhere in particular, as a socket would take them.
  static Result<std::string> read_all(sys::HttpBody& body) {
    constexpr std::size_t kStep = 1021;
    std::string text(body.size(), '\0');
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(text));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t step = std::min(kStep, text.size() - at);
      OUTLAST_TRY_ASSIGN(const std::size_t read, body.read_at(bytes.subspan(at, step), at));
      if (read == 0) break;
      at += read;
    }
    return text;
  }

  const sys::HttpHandler handler_;
};

}  // namespace outlast::store::gcs::testing
