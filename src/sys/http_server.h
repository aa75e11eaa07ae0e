#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::sys {

struct HttpServerRequest {
  std::string method = {};
  std::string target = {};  // as it came: path and query, percent-encoded
  HttpHeaders headers = {};
  std::string body = {};
  std::string peer = {};  // the client's address, without its port
  // For a handler that waits: past its deadline, or once it is stopped, nobody waits for the answer
  // any more. The server ends, or, in simulation, the client has given up.
  CallContext ctx = {};
};

// Answers a request; called from several threads at once, and may take its time. Content-Length is
// added; an answer to HEAD may bring its own, and its body is not sent. An answer that declares
// more than its body has is cut off: the connection breaks after what there is. `Connection: close`
// closes the connection afterwards. What cannot be sent (a header with a line break or of over 60
// KiB, an interim status) becomes a 500.
using HttpHandler = std::function<HttpResponse(const HttpServerRequest&)>;

// What is not a request in HTTP/1.1, is too large (headers of 60 KiB, or a body over its limit) or
// has no Host never gets to the handler: it is answered with 400, 413, 431 or 505.
struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::uint64_t body_bytes_max = 64U << 20U;
};

// Serves until it is destroyed, which closes the connections, stops the requests and waits for
// handlers that still run.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
};

class HttpServers {
 public:
  virtual ~HttpServers() = default;
  // kAlreadyExists if the port is taken.
  virtual Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options,
                                                     HttpHandler handler) = 0;
};

}  // namespace outlast::sys
