#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "sys/http.h"

namespace outlast::sys {

struct HttpServerRequest {
  std::string method = {};
  std::string target = {};  // as it came: path and query, percent-encoded
  HttpHeaders headers = {};
  std::string body = {};
  std::string peer = {};  // the client's address, without its port
};

// Answers a request; called from several threads at once. Content-Length is added.
using HttpHandler = std::function<HttpResponse(const HttpServerRequest&)>;

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::uint64_t body_bytes_max = 64U << 20U;
};

// Serves until it is destroyed, which closes the connections and joins its threads.
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
