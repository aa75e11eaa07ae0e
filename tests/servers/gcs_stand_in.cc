// The stand-in of Google Cloud Storage as a program:
//
//   gcs_stand_in [--port N] [--bucket NAME]... [--token TEXT]
//
// Listens on 127.0.0.1, on a free port unless one is given, prints the port, and serves until it is
// asked to end. Objects live in memory.
#include <signal.h>  // sigwait and the masks of threads are POSIX's

#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "store/gcs/testing/gcs_stand_in.h"
#include "sys/http_server.h"
#include "sys/posix_world.h"

namespace {

using outlast::store::gcs::testing::GcsStandIn;

struct Arguments {
  std::uint16_t port = 0;
  GcsStandIn::Options options = {};
};

std::optional<Arguments> read_arguments(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == words.size()) return std::nullopt;
    const std::string_view value = words[i + 1];
    if (name == "--port") {
      const char* const end = value.data() + value.size();
      const auto [stop, error] = std::from_chars(value.data(), end, arguments.port);
      if (error != std::errc() || stop != end) return std::nullopt;
    } else if (name == "--bucket") {
      arguments.options.buckets.emplace_back(value);
    } else if (name == "--token") {
      arguments.options.token = value;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** words) {
  auto arguments = read_arguments(std::span(words, static_cast<std::size_t>(count)));
  if (!arguments) {
    std::cerr << "usage: gcs_stand_in [--port N] [--bucket NAME]... [--token TEXT]\n";
    return 2;
  }
  // Blocked before any thread begins, so that only sigwait() sees them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  outlast::sys::RealWorld real;
  outlast::sys::World& world = real.world();
  arguments->options.wall_now = [&world] { return world.clock.wall_now(); };
  GcsStandIn stand_in(std::move(arguments->options));
  const auto server = world.http_servers.listen(
      {.port = arguments->port, .body_bytes_max = 1U << 30U}, stand_in.handler());
  if (!server) {
    std::cerr << server.error().to_string() << "\n";
    return 1;
  }
  std::cout << (*server)->port() << std::endl;
  int ended_by = 0;
  sigwait(&ends, &ended_by);
  return 0;
}
