#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::sim {

// What becomes of a request.
enum class Fate {
  kArrives,
  kRefused,      // nobody took the connection: kUnavailable
  kRequestLost,  // the connection broke before the server saw it: kUnknownOutcome
  kAnswerLost,   // it broke after the server acted: kUnknownOutcome
  kAnswerCut,    // it broke in the middle of the answer: a part is delivered, then kUnknownOutcome
  kOverloaded,   // answered with 503 by something in front of the server, which saw nothing
  kStalls,  // silence, until the deadline or the request's stall_timeout; the server may have acted
};

// How the network is today: chances at each request.
struct Weather {
  Duration latency_min = std::chrono::microseconds(500);  // of one way
  Duration latency_max = std::chrono::milliseconds(20);
  double refused = 0;
  double request_lost = 0;
  double answer_lost = 0;
  double answer_cut = 0;
  double overloaded = 0;
  double stalls = 0;
};

// What connects the machines of a simulation with each other and with services outside of them. A
// request takes virtual time to get there and back, and the handler runs in the client's thread,
// between the two: atomically, as long as it makes no sys call. Confined to the simulation.
class SimNetwork {
 public:
  explicit SimNetwork(Kernel& kernel) : kernel_(kernel) {}

  // A service outside of every machine: `where` is "http://host:port" or "https://host" for one
  // origin, "host" for every port of a host. The same again replaces it.
  void serve(const std::string& where, sys::HttpHandler handler);
  // Connections are refused from now on.
  void stop_serving(const std::string& where);

  void set_weather(const Weather& weather) { weather_ = weather; }
  // Asked before the weather, with the name of the machine that sends; nullopt leaves it to chance.
  using Hook = std::function<std::optional<Fate>(const std::string& from, const sys::HttpRequest&)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }

 private:
  friend class SimHttpClient;
  friend class SimHttpServers;
  class MachineServer;

  struct Service {
    sys::HttpHandler handler = {};
    std::uint64_t body_bytes_max = UINT64_MAX;
    const Domain* domain = nullptr;  // that it dies with; nullptr: outside of every machine
    std::uint64_t number = 0;
  };

  // Who answers `url` when asked from the machine `from`, or nullptr.
  const Service* find(const sys::HttpUrl& url, const std::string& from) const;
  Fate draw_fate(const std::string& from, const sys::HttpRequest& request);

  Kernel& kernel_;
  Weather weather_;
  Hook hook_;
  std::map<std::string, Service> services_;  // by "http://host:port" or "host"
  std::uint64_t services_made_ = 0;
};

// The network as one machine sees it. 127.0.0.1 and localhost are the machine itself.
class SimHttpClient : public sys::HttpClient {
 public:
  // `machine` is the name of whoever sends.
  SimHttpClient(Kernel& kernel, SimNetwork& network, std::string machine)
      : kernel_(kernel), network_(network), machine_(std::move(machine)) {}

  Result<sys::HttpResponse> send(const sys::HttpRequest& request,
                                 const sys::CallContext& ctx) override;

 private:
  class Exchange;

  Kernel& kernel_;
  SimNetwork& network_;
  const std::string machine_;
};

// Servers on a machine: reached by its name and their port, or only from the machine itself if they
// listen on 127.0.0.1. Connections are refused once the machine, or the process that listened, is
// gone.
class SimHttpServers : public sys::HttpServers {
 public:
  SimHttpServers(Kernel& kernel, SimNetwork& network, std::string machine)
      : kernel_(kernel), network_(network), machine_(std::move(machine)) {}

  Result<std::unique_ptr<sys::HttpServer>> listen(const sys::HttpServerOptions& options,
                                                  sys::HttpHandler handler) override;

 private:
  Kernel& kernel_;
  SimNetwork& network_;
  const std::string machine_;
  std::uint16_t next_port_ = 49152;  // where free ones begin
};

}  // namespace outlast::sim
