#include "sim/sim_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kHeaderBytesMax = 256U << 10U;
constexpr std::int64_t kPieceBytesMax = 32U << 10U;
constexpr std::string_view kLoopback = "127.0.0.1";

struct HostAndPort {
  std::string host = {};
  std::string port = {};
};

HostAndPort split_authority(const sys::HttpUrl& url) {
  const std::size_t colon = url.authority.rfind(':');
  const bool has_port =
      colon != std::string::npos && url.authority.find(']', colon) == std::string::npos;
  if (has_port) return {url.authority.substr(0, colon), url.authority.substr(colon + 1)};
  return {url.authority, url.scheme == "https" ? "443" : "80"};
}

std::string origin_key(std::string_view scheme, const HostAndPort& place) {
  return fmt::format("{}://{}:{}", scheme, place.host, place.port);
}

// The place that a person may also write without its port.
std::string service_key(const std::string& where) {
  const auto url = sys::parse_http_url(where);
  return url ? origin_key(url->scheme, split_authority(*url)) : where;
}

// A loopback address means another machine for everyone.
std::string loopback_of(const std::string& machine) {
  return fmt::format("{}/{}", machine, kLoopback);
}

}  // namespace

void SimNetwork::serve(const std::string& where, sys::HttpHandler handler) {
  services_.insert_or_assign(service_key(where),
                             Service{.handler = std::move(handler), .number = ++services_made_});
}

void SimNetwork::stop_serving(const std::string& where) {
  services_.erase(service_key(where));
}

const SimNetwork::Service* SimNetwork::find(const sys::HttpUrl& url,
                                            const std::string& from) const {
  HostAndPort place = split_authority(url);
  std::vector<std::string> keys;
  if (place.host == kLoopback || place.host == "localhost") {
    place.host = loopback_of(from);
    keys.push_back(origin_key(url.scheme, place));
    place.host = from;  // what listens on all addresses
    keys.push_back(origin_key(url.scheme, place));
  } else {
    keys = {origin_key(url.scheme, place), place.host};
  }
  for (const std::string& key : keys) {
    const auto found = services_.find(key);
    if (found == services_.end()) continue;
    const Domain* const domain = found->second.domain;
    if (domain == nullptr || !domain->dead()) return &found->second;
  }
  return nullptr;
}

Fate SimNetwork::draw_fate(const std::string& from, const sys::HttpRequest& request) {
  if (hook_) {
    if (const auto fate = hook_(from, request)) return *fate;
  }
  // One draw, whatever the weather: a fault that is made likelier does not change who meets it.
  double draw = kernel_.random().unit();
  const std::pair<double, Fate> chances[] = {
      {weather_.refused, Fate::kRefused},        {weather_.request_lost, Fate::kRequestLost},
      {weather_.answer_lost, Fate::kAnswerLost}, {weather_.answer_cut, Fate::kAnswerCut},
      {weather_.overloaded, Fate::kOverloaded},  {weather_.stalls, Fate::kStalls}};
  for (const auto& [chance, fate] : chances) {
    if (draw < chance) return fate;
    draw -= chance;
  }
  return Fate::kArrives;
}

// One request on its way there and back. Confined to the call that sends it.
class SimHttpClient::Exchange {
 public:
  Exchange(SimHttpClient& client, const sys::HttpRequest& request, const sys::CallContext& ctx)
      : kernel_(client.kernel_),
        network_(client.network_),
        machine_(client.machine_),
        request_(request),
        ctx_(ctx) {}

  Result<sys::HttpResponse> run() {
    if (!kernel_.step("http",
                      fmt::format("{} {}", request_.method, sys::without_query(request_.url)))) {
      return gone_error();
    }
    OUTLAST_TRY_ASSIGN(const sys::HttpUrl url, sys::check_http_request(request_));
    OUTLAST_TRY(pass(Duration::zero()));
    const Fate fate = network_.draw_fate(machine_, request_);
    const bool acts_before_silence = fate == Fate::kStalls && kernel_.random().chance(0.5);
    OUTLAST_TRY(travel());
    if (fate == Fate::kRefused || network_.find(url, machine_) == nullptr) {
      return failed(ErrorCode::kUnavailable, "nobody listens there; check the address");
    }
    if (fate == Fate::kRequestLost) {
      return failed(ErrorCode::kUnknownOutcome, "no answer came: the connection broke");
    }
    if (fate == Fate::kStalls && !acts_before_silence) return silence();
    sys::HttpResponse answer{.status = 503, .headers = {}, .body = "overloaded\n"};
    if (fate != Fate::kOverloaded) {
      OUTLAST_TRY_ASSIGN(answer, ask_server(url));
    }
    const bool cut = request_.method != "HEAD" && sys::declares_more_than_it_has(answer);
    finish_headers(answer);
    if (fate == Fate::kStalls) return silence();
    OUTLAST_TRY(travel());
    if (fate == Fate::kAnswerLost) {
      return failed(ErrorCode::kUnknownOutcome, "no answer came: the connection broke");
    }
    if (cut) return deliver(std::move(answer), Part::kAllThereIs);
    return deliver(std::move(answer), fate == Fate::kAnswerCut ? Part::kSome : Part::kWhole);
  }

 private:
  // How much of an answer's body comes; after less than the whole the connection breaks.
  enum class Part { kWhole, kSome, kAllThereIs };

  // Lets this much time pass, as long as the context allows.
  Result<void> pass(Duration length) {
    const MonoTime until = saturating_add(kernel_.now(), length);
    for (;;) {
      if (ctx_.stop.stop_requested()) return failed(ErrorCode::kCancelled, "stopped");
      if (kernel_.now() >= ctx_.deadline) {
        return failed(ErrorCode::kDeadlineExceeded, "the deadline passed");
      }
      if (kernel_.now() >= until) return {};
      (void)kernel_.block("the network", ctx_.until(until));
      kernel_.throw_if_gone();
    }
  }

  Result<void> travel() {
    const Weather& weather = network_.weather_;
    return pass(Duration(
        kernel_.random().between(weather.latency_min.count(), weather.latency_max.count())));
  }

  Error silence() {
    if (auto passed = pass(request_.stall_timeout); !passed) return passed.error();
    return gave_up();
  }

  Error gave_up() const {
    return failed(ErrorCode::kUnknownOutcome, "no byte moved for too long, so it was given up");
  }

  Result<sys::HttpResponse> ask_server(const sys::HttpUrl& url) {
    sys::HttpServerRequest asked{.method = request_.method,
                                 .target = url.target,
                                 .headers = request_.headers,
                                 .body = {},
                                 .peer = machine_};
    if (!sys::find_header(asked.headers, "Host")) asked.headers.emplace_back("Host", url.authority);
    OUTLAST_TRY_ASSIGN(asked.body, read_body());
    const bool has_length = sys::find_header(asked.headers, "Content-Length").has_value();
    if (!has_length && (!asked.body.empty() || asked.method == "PUT" || asked.method == "POST" ||
                        asked.method == "PATCH")) {
      asked.headers.emplace_back("Content-Length", std::to_string(asked.body.size()));
    }
    // Reading the body may have taken its time: the server, or the caller, may be gone.
    kernel_.throw_if_gone();
    const SimNetwork::Service* const service = network_.find(url, machine_);
    if (service == nullptr) {
      return failed(ErrorCode::kUnknownOutcome, "no answer came: the connection broke");
    }
    if (asked.body.size() > service->body_bytes_max) {
      return sys::HttpResponse{.status = 413, .headers = {}, .body = "too large\n"};
    }
    const sys::HttpHandler handler = service->handler;  // it may replace itself
    const MonoTime patience = saturating_add(kernel_.now(), request_.stall_timeout);
    asked.ctx = ctx_.until(patience);
    sys::HttpResponse answer = handler(asked);
    OUTLAST_TRY(pass(Duration::zero()));
    if (kernel_.now() >= patience) return gave_up();
    return answer;
  }

  Result<std::string> read_body() {
    if (request_.streamed_body == nullptr) return std::string(as_text(request_.body));
    std::string body(request_.streamed_body->size(), '\0');
    for (std::size_t done = 0; done < body.size();) {
      const std::span<char> rest = std::span(body).subspan(done);
      OUTLAST_TRY_ASSIGN(const std::size_t got,
                         request_.streamed_body->read_at(std::as_writable_bytes(rest), done));
      if (got == 0) {
        return failed(
            ErrorCode::kFailed,
            fmt::format("its body ended after {} of {} bytes: has it changed?", done, body.size()));
      }
      done += got;
    }
    return body;
  }

  // As a real server does.
  void finish_headers(sys::HttpResponse& answer) const {
    const bool has_no_body = answer.status == 204 || answer.status == 304;
    const auto is_length = [](const auto& header) {
      return sys::find_header({header}, "Content-Length").has_value();
    };
    if (has_no_body || request_.method != "HEAD") std::erase_if(answer.headers, is_length);
    if (!has_no_body && !sys::find_header(answer.headers, "Content-Length")) {
      answer.headers.emplace_back("Content-Length", std::to_string(answer.body.size()));
    }
    if (has_no_body || request_.method == "HEAD") answer.body.clear();
  }

  Result<sys::HttpResponse> deliver(sys::HttpResponse answer, Part part) {
    std::size_t header_bytes = 0;
    for (const auto& [name, value] : answer.headers) header_bytes += name.size() + value.size() + 4;
    if (header_bytes > kHeaderBytesMax) {
      return failed(ErrorCode::kFailed,
                    "the answer's headers are too large; is that the right server?");
    }
    const std::string body = std::exchange(answer.body, {});
    const std::size_t length =
        part == Part::kSome && !body.empty() ? kernel_.random().below(body.size()) : body.size();
    const bool to_sink = request_.sink && answer.status >= 200 && answer.status < 300;
    if (!to_sink && length > request_.gathered_bytes_max) {
      return failed(
          ErrorCode::kFailed,
          fmt::format("the answer ({}) has a body of more than {} bytes, which nobody expects",
                      answer.status, request_.gathered_bytes_max));
    }
    for (std::size_t done = 0; to_sink && done < length;) {
      const auto piece = std::min<std::size_t>(
          length - done, static_cast<std::size_t>(kernel_.random().between(1, kPieceBytesMax)));
      OUTLAST_TRY(request_.sink(answer, as_bytes(std::string_view(body).substr(done, piece))));
      done += piece;
    }
    if (part != Part::kWhole) {
      return failed(
          ErrorCode::kUnknownOutcome,
          fmt::format("only a part of the answer ({}) came: the connection broke", answer.status));
    }
    if (!to_sink) answer.body = body;
    return answer;
  }

  Error failed(ErrorCode code, std::string_view why) const {
    return {code, fmt::format("{} {}: {}", request_.method, sys::without_query(request_.url), why)};
  }

  Kernel& kernel_;
  SimNetwork& network_;
  const std::string& machine_;
  const sys::HttpRequest& request_;
  const sys::CallContext& ctx_;
};

Result<sys::HttpResponse> SimHttpClient::send(const sys::HttpRequest& request,
                                              const sys::CallContext& ctx) {
  return Exchange(*this, request, ctx).run();
}

// Takes its service away when it goes. It makes no sys call for that, so that it may go while its
// machine is gone.
class SimNetwork::MachineServer : public sys::HttpServer {
 public:
  MachineServer(SimNetwork& network, std::string key, std::uint64_t number, std::uint16_t port)
      : network_(network), key_(std::move(key)), number_(number), port_(port) {}
  ~MachineServer() override {
    const auto found = network_.services_.find(key_);
    // Another life of the machine may have put its own there.
    if (found != network_.services_.end() && found->second.number == number_) {
      network_.services_.erase(found);
    }
  }
  std::uint16_t port() const override { return port_; }

 private:
  SimNetwork& network_;
  const std::string key_;
  const std::uint64_t number_;
  const std::uint16_t port_;
};

Result<std::unique_ptr<sys::HttpServer>> SimHttpServers::listen(
    const sys::HttpServerOptions& options, sys::HttpHandler handler) {
  if (!kernel_.step("listen", machine_)) return gone_error();
  const std::string host = options.address == kLoopback ? loopback_of(machine_) : machine_;
  const auto key_for = [&host](std::uint16_t port) {
    return origin_key("http", {.host = host, .port = std::to_string(port)});
  };
  const auto taken = [this](const std::string& key) {
    const auto found = network_.services_.find(key);
    return found != network_.services_.end() && !found->second.domain->dead();
  };
  std::uint16_t port = options.port;
  if (port == 0) {
    while (taken(key_for(next_port_))) ++next_port_;
    port = next_port_++;
  }
  const std::string key = key_for(port);
  if (taken(key)) {
    return Error(
        ErrorCode::kAlreadyExists,
        fmt::format("listen on {}:{}: the port is taken; choose another, or 0 for a free one",
                    options.address, port));
  }
  const std::uint64_t number = ++network_.services_made_;
  network_.services_.insert_or_assign(key,
                                      SimNetwork::Service{.handler = std::move(handler),
                                                          .body_bytes_max = options.body_bytes_max,
                                                          .domain = &kernel_.current_domain(),
                                                          .number = number});
  return std::make_unique<SimNetwork::MachineServer>(network_, key, number, port);
}

}  // namespace outlast::sim
