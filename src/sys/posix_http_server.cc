#include "sys/posix_http_server.h"

// Only sockets are used of asio, not its handlers, so that nothing needs these fences; the thread
// sanitizer does not know them.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK

#include <fmt/core.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>  // NOLINT(misc-include-cleaner): it is in their impl/
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>  // NOLINT(misc-include-cleaner): it is in their impl/
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t kConnectionsMax = 256;
// Beast keeps a header's length in 16 bits, and throws if it is more.
constexpr std::uint32_t kRequestHeaderBytesMax = 60U << 10U;
constexpr std::size_t kHeaderValueBytesMax = 60U << 10U;
constexpr std::size_t kReadBufferBytes = 512U << 10U;
constexpr std::chrono::milliseconds kIdleMax = std::chrono::minutes(2);
constexpr std::chrono::milliseconds kLingerMax = std::chrono::seconds(2);
constexpr std::size_t kLingerBytesMax = 16U << 20U;

bool wait_readable(int fd, std::chrono::milliseconds longest) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return retry_eintr([&] { return ::poll(&entry, 1, static_cast<int>(longest.count())); }) > 0;
}

// Closing with unread bytes resets the connection, and the client may then never see the answer: so
// what it still sends is read and thrown away, for a while.
void linger(int fd) {
  ::shutdown(fd, SHUT_WR);
  std::array<char, 16384> scratch;
  for (std::size_t total = 0; total < kLingerBytesMax && wait_readable(fd, kLingerMax);) {
    const ssize_t got = ::recv(fd, scratch.data(), scratch.size(), 0);
    if (got <= 0) return;
    total += static_cast<std::size_t>(got);
  }
}

HttpResponse refusal(int status, std::string why) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain"}, {"Connection", "close"}},
          .body = std::move(why) + "\n"};
}

// What a handler may not answer, as a sentence; empty if it is all right.
std::string fault_in(const HttpResponse& answer) {
  if (answer.status < 200 || answer.status > 999) {
    return fmt::format("The handler's status {} is none.", answer.status);
  }
  for (const auto& [name, value] : answer.headers) {
    const bool broken =
        (name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
    if (name.empty() || broken || name.size() + value.size() > kHeaderValueBytesMax) {
      return fmt::format("The handler's header '{}' cannot be sent.", broken ? "" : name);
    }
  }
  return {};
}

// One connection, from its first request to its last. Confined to its thread.
class Session {
 public:
  Session(asio::ip::tcp::socket& socket, std::uint64_t body_bytes_max, const HttpHandler& handler,
          std::stop_token stop)
      : socket_(socket),
        body_bytes_max_(body_bytes_max),
        handler_(handler),
        stop_(std::move(stop)),
        buffer_(kReadBufferBytes) {
    beast::error_code ignored;
    const auto peer = socket_.remote_endpoint(ignored);
    if (!ignored) peer_ = peer.address().to_string(ignored);
  }

  void run() {
    bool more = true;
    while (more) {
      if (buffer_.size() == 0 && !wait_readable(socket_.native_handle(), kIdleMax)) return;
      more = serve_one();
    }
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  // False when the connection is at its end.
  bool serve_one() {
    Parser parser;
    parser.header_limit(kRequestHeaderBytesMax);
    parser.body_limit(body_bytes_max_);
    beast::error_code error;
    http::read_header(socket_, buffer_, parser, error);  // NOLINT(misc-include-cleaner)
    if (!error && parser.get().version() == 11 && parser.get()[http::field::expect].size() > 0) {
      if (!beast::iequals(parser.get()[http::field::expect], "100-continue")) {
        return refuse(417, "The only expectation that is met is 100-continue.");
      }
      if (!parser.is_done() && !write_continue()) return false;
    }
    if (!error) http::read(socket_, buffer_, parser, error);  // NOLINT(misc-include-cleaner)
    if (error) return refuse_malformed(error);
    http::request<http::string_body> request = parser.release();
    if (request.version() != 11) return refuse(505, "Only HTTP/1.1 is spoken here.");
    if (request.count(http::field::host) != 1) return refuse(400, "One Host header is needed.");

    const bool keep = request.keep_alive();
    const HttpServerRequest asked = take(std::move(request));
    return answer(handler_(asked), asked.method == "HEAD", keep);
  }

  HttpServerRequest take(http::request<http::string_body> request) const {
    HttpServerRequest asked{.method = std::string(request.method_string()),
                            .target = std::string(request.target()),
                            .headers = {},
                            .body = {},
                            .peer = peer_,
                            .ctx = {.stop = stop_}};
    for (const auto& field : request) {
      asked.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    asked.body = std::move(request.body());
    return asked;
  }

  bool write_continue() {
    http::response<http::empty_body> go_on(http::status::continue_, 11);
    beast::error_code error;
    http::write(socket_, go_on, error);  // NOLINT(misc-include-cleaner)
    return !error;
  }

  bool refuse_malformed(const beast::error_code& error) {
    if (error == http::error::body_limit) {
      return refuse(413, fmt::format("A body may have {} bytes at most.", body_bytes_max_));
    }
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return refuse(431, "The headers are too large.");
    }
    // What remains of Beast's own errors is a malformed request; others are the connection's end.
    const bool malformed =
        error.category() == beast::error_code(http::error::bad_method).category();
    if (!malformed || error == http::error::end_of_stream ||
        error == http::error::partial_message) {
      return false;
    }
    return refuse(400, fmt::format("The request is malformed: {}.", error.message()));
  }

  bool refuse(int status, std::string why) {
    if (answer(refusal(status, std::move(why)), false, false)) return true;
    linger(socket_.native_handle());
    return false;
  }

  bool answer(HttpResponse made, bool is_head, bool keep) {
    if (std::string fault = fault_in(made); !fault.empty()) made = refusal(500, std::move(fault));
    const auto connection = find_header(made.headers, "Connection");
    if (connection &&
        beast::iequals(beast::string_view(connection->data(), connection->size()), "close")) {
      keep = false;
    }
    http::response<http::string_body> response;
    response.version(11);
    response.result(static_cast<unsigned>(made.status));
    for (const auto& [name, value] : made.headers) response.insert(name, value);
    const bool has_no_body = made.status == 204 || made.status == 304;
    if (has_no_body) {
      response.erase(http::field::content_length);
    } else if (!is_head && declares_more_than_it_has(made)) {
      keep = false;  // what is missing never comes
    } else if (!is_head || response.count(http::field::content_length) == 0) {
      response.content_length(made.body.size());
    }
    response.keep_alive(keep);
    if (!is_head && !has_no_body) response.body() = std::move(made.body);
    beast::error_code error;
    http::write(socket_, response, error);  // NOLINT(misc-include-cleaner)
    return !error && keep;
  }

  asio::ip::tcp::socket& socket_;
  const std::uint64_t body_bytes_max_;
  const HttpHandler& handler_;
  const std::stop_token stop_;
  beast::flat_buffer buffer_;
  std::string peer_;
};

class PosixHttpServer : public HttpServer {
 public:
  PosixHttpServer(Fd listener, const asio::ip::tcp::endpoint& endpoint,
                  std::uint64_t body_bytes_max, HttpHandler handler)
      : listener_(std::move(listener)),
        protocol_(endpoint.protocol()),
        port_(endpoint.port()),
        body_bytes_max_(body_bytes_max),
        handler_(std::move(handler)),
        acceptor_([this] { accept_all(); }) {}

  ~PosixHttpServer() override {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
      // Wakes whoever waits on them.
      ::shutdown(listener_.get(), SHUT_RDWR);
      for (const Connection& connection : connections_) {
        if (!connection.ended) ::shutdown(connection.fd, SHUT_RDWR);
      }
    }
    stop_.request_stop();
    acceptor_.join();
    for (Connection& connection : connections_) connection.thread.join();
  }

  std::uint16_t port() const override { return port_; }

 private:
  struct Connection {
    int fd = -1;
    bool ended = false;  // guarded by the server's mutex_; the socket is closed only after that
    std::thread thread = {};
  };

  void accept_all() {
    ::pthread_setname_np(::pthread_self(), "http-accept");
    while (wait_for_room()) {
      const int fd = retry_eintr(
          [this] { return ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC); });
      if (fd >= 0) start(Fd(fd));
      // Out of descriptors, perhaps: the next try is not to come at once.
      if (fd < 0 && errno != ECONNABORTED) pause();
    }
  }

  // Also joins the threads that have ended. False when the server is to end.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopping_) return false;
      for (auto it = connections_.begin(); it != connections_.end();) {
        if (!it->ended) {
          ++it;
          continue;
        }
        it->thread.join();  // only has its socket left to close
        it = connections_.erase(it);
      }
      if (connections_.size() < kConnectionsMax) return true;
      changed_.wait(lock);
    }
  }

  void pause() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(20), [this] { return stopping_; });
  }

  void start(Fd fd) {
    const int on = 1;
    ::setsockopt(fd.get(), SOL_TCP, TCP_NODELAY, &on, sizeof on);
    beast::error_code error;
    asio::ip::tcp::socket socket(context_);
    socket.assign(protocol_, fd.get(), error);
    if (error) return;
    const int raw = fd.release();  // the socket's now
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    Connection& connection = connections_.emplace_back();
    connection.fd = raw;
    try {
      connection.thread = std::thread([this, &connection, held = std::move(socket)]() mutable {
        serve(connection, std::move(held));
      });
    } catch (const std::system_error&) {
      connections_.pop_back();  // no thread to be had: the client sees a closed connection
    }
  }

  void serve(Connection& connection, asio::ip::tcp::socket socket) {
    ::pthread_setname_np(::pthread_self(), "http-session");
    Session(socket, body_bytes_max_, handler_, stop_.get_token()).run();
    const std::scoped_lock lock(mutex_);
    connection.ended = true;
    changed_.notify_all();
  }

  asio::io_context context_;  // nothing runs in it: sockets want one
  const Fd listener_;
  const asio::ip::tcp protocol_;
  const std::uint16_t port_;
  const std::uint64_t body_bytes_max_;
  const HttpHandler handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::stop_source stop_;  // of the requests
  std::list<Connection> connections_;
  std::thread acceptor_;  // last: it uses all of the above
};

class PosixHttpServers : public HttpServers {
 public:
  Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options,
                                             HttpHandler handler) override {
    beast::error_code error;
    const asio::ip::address address = asio::ip::make_address(options.address, error);
    const std::string where = fmt::format("listen on {}:{}", options.address, options.port);
    if (error) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: give an IP address of this machine", where));
    }
    asio::ip::tcp::endpoint endpoint(address, options.port);
    Fd listener(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!listener) return posix_error(errno, where);
    // A port whose last connections have not faded away yet is free all the same.
    const int on = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
        ::listen(listener.get(), SOMAXCONN) != 0) {
      if (errno != EADDRINUSE) return posix_error(errno, where);
      return Error(
          ErrorCode::kAlreadyExists,
          fmt::format("{}: the port is taken; choose another, or 0 for a free one", where));
    }
    auto size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(listener.get(), endpoint.data(), &size) != 0) {
      return posix_error(errno, where);
    }
    endpoint.resize(size);
    try {
      return std::make_unique<PosixHttpServer>(std::move(listener), endpoint,
                                               options.body_bytes_max, std::move(handler));
    } catch (const std::system_error& failure) {
      return Error(ErrorCode::kFailed, fmt::format("{}: {}", where, failure.what()));
    } catch (const boost::system::system_error& failure) {
      return Error(ErrorCode::kFailed, fmt::format("{}: {}", where, failure.what()));
    }
  }
};

}  // namespace

std::unique_ptr<HttpServers> make_posix_http_servers() {
  return std::make_unique<PosixHttpServers>();
}

}  // namespace outlast::sys
