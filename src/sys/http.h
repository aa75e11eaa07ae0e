#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"

// HTTP/1.1 as a client sees it: one request, one answer, no cleverness. Nothing here retries,
// follows a redirect, signs, decodes or rewrites; the layers above do, knowingly. (One exception
// that nobody can notice: a GET or HEAD on a kept connection that the server closed meanwhile goes
// out again on a fresh one. Nothing else is ever sent twice.)
namespace outlast::sys {

// In the order in which they were sent or came. Names are compared without regard to case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;
// The first header of this name, trimmed; nullopt if there is none.
std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name);

// A request body that is read piece by piece, and from the start again by whoever sends it again.
// Confined to the call that sends it.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  virtual std::uint64_t size() const = 0;
  // Up to buffer.size() bytes from `offset`; less only at the end.
  virtual Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) = 0;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers = {};
  std::string body = {};  // what the request's sink did not take
};

// Whether its Content-Length is more than its body: to a server, that it is to be cut off.
bool declares_more_than_it_has(const HttpResponse& answer);

struct HttpRequest {
  std::string method = "GET";
  // http:// or https://, percent-encoded: sent as it is, dots and double slashes included.
  std::string url = {};
  // Host and Content-Length are ours unless they stand here; nothing else is added.
  HttpHeaders headers = {};
  BytesView body = {};                // borrowed; always sent with its length
  HttpBody* streamed_body = nullptr;  // instead of `body`; borrowed

  // Takes the body of a 2xx answer piece by piece, once the headers are there (`answer` has no body
  // yet). An error ends the call with that error. Other answers, and all without a sink, are
  // gathered in HttpResponse::body.
  std::function<Result<void>(const HttpResponse& answer, BytesView piece)> sink = {};
  // The largest body that is gathered; more is kFailed, and the rest is not read.
  std::uint64_t gathered_bytes_max = 4U << 20U;

  bool direct = false;  // never through a proxy: metadata addresses
  Duration connect_timeout = std::chrono::seconds(10);
  Duration stall_timeout = std::chrono::seconds(30);  // no byte either way for so long: given up
};

// The parts of a URL that a request can go to.
struct HttpUrl {
  std::string scheme = {};     // "http" or "https"
  std::string authority = {};  // "host" or "host:port", as it stands
  std::string target = {};     // path and query, "/" at least
};
// kInvalidArgument if it is no such URL: another scheme, no host, a user or a password in it, a
// fragment, or a character that must be percent-encoded.
Result<HttpUrl> parse_http_url(std::string_view url);
// The URL as it may be shown: without its query, which may carry a signature.
std::string_view without_query(std::string_view url);
// What every client refuses alike, as kInvalidArgument: a malformed URL, method or header, a
// Content-Length that is not the body's, or a Transfer-Encoding.
Result<HttpUrl> check_http_request(const HttpRequest& request);
// The size of whichever body it has.
std::uint64_t body_size(const HttpRequest& request);

// What is known when there is no answer tells the two errors apart:
//   kUnavailable     nothing of the request can have been acted on: the name did not resolve,
//   nobody
//                    listened, TLS failed. Safe to repeat, whatever it was.
//   kUnknownOutcome  at least a part was sent, and no whole answer came back.
// Others: kInvalidArgument (a malformed URL or header), kDeadlineExceeded and kCancelled (with them
// the outcome is unknown too, and the caller knows), kFailed (an answer over the limits: headers of
// more than 256 KiB, a gathered body over its bound), and what the sink or the streamed body
// returned. An answer of any status is not an error.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // One exchange. Any number of threads may be in it at once; connections are kept and reused.
  // Credentials in headers and query strings never reach an error's sentence: URLs are shown
  // without their query.
  virtual Result<HttpResponse> send(const HttpRequest& request, const CallContext& ctx) = 0;
};

}  // namespace outlast::sys
