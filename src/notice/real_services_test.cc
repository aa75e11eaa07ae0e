// The same sources in the real world: real requests to servers on this machine, found by variables.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "notice/cloud_sources.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sim/sim_surroundings.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/inbox.h"
#include "sys/posix_world.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

using std::chrono::seconds;

class SilentSink : public LogSink {
 public:
  void write(LogRecord /*record*/) override {}
};

// What "auto" hears first from a server that answers like this.
std::optional<Notice> first_notice(const sys::HttpHandler& handler, const std::string& variable) {
  sys::RealWorld real;
  sys::World& world = real.world();
  auto server = world.http_servers.listen({}, handler);
  EXPECT_TRUE(server);
  if (!server) return std::nullopt;
  sim::SimEnvironment environment;
  environment.variables[variable] = "http://127.0.0.1:" + std::to_string((*server)->port());
  sys::World here = {.clock = world.clock,
                     .threads = world.threads,
                     .files = world.files,
                     .file_watches = world.file_watches,
                     .processes = world.processes,
                     .process_families = world.process_families,
                     .own_signals = world.own_signals,
                     .environment = environment,
                     .console = world.console,
                     .http = world.http,
                     .http_servers = world.http_servers,
                     .local_sockets = world.local_sockets,
                     .shared_memories = world.shared_memories,
                     .random = world.random};
  SilentSink sink;
  sys::Inbox<int> changed(world.threads, 1000);
  NoticeBoard board([&] { (void)changed.try_post(1); });
  auto sources = make_cloud_sources("auto", here, Logger(sink), seconds(30));
  EXPECT_TRUE(sources);
  if (!sources) return std::nullopt;
  const NoticeWatch watch(world.threads, board, *std::move(sources));
  const MonoTime deadline = saturating_add(world.clock.mono_now(), seconds(60));
  while (!board.current() && changed.receive({.deadline = deadline})) {
  }
  return board.current();
}

TEST(RealServices, GoogleIsHeard) {
  const auto notice = first_notice(
      [](const sys::HttpServerRequest& request) {
        const bool asks_for_it = request.target.find("preempted") != std::string::npos;
        return sys::HttpResponse{.status = 200,
                                 .headers = {{"Metadata-Flavor", "Google"}, {"ETag", "e"}},
                                 .body = asks_for_it ? "TRUE" : "NONE"};
      },
      "GCE_METADATA_HOST");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "gce");
}

TEST(RealServices, AmazonIsHeard) {
  const auto notice = first_notice(
      [](const sys::HttpServerRequest& request) {
        if (request.method == "PUT") return sys::HttpResponse{.status = 200, .body = "token"};
        if (sys::find_header(request.headers, "X-aws-ec2-metadata-token") != "token") {
          return sys::HttpResponse{.status = 401};
        }
        if (request.target.ends_with("instance-id")) {
          return sys::HttpResponse{.status = 200, .body = "i-1"};
        }
        if (!request.target.ends_with("spot/instance-action")) {
          return sys::HttpResponse{.status = 404};
        }
        return sys::HttpResponse{.status = 200,
                                 .headers = {{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}},
                                 .body = R"({"action":"terminate","time":"1994-11-06T08:51:37Z"})"};
      },
      "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "ec2");
}

TEST(RealServices, AzureIsHeard) {
  const auto notice = first_notice(
      [](const sys::HttpServerRequest& request) {
        if (sys::find_header(request.headers, "Metadata") != "true") {
          return sys::HttpResponse{.status = 400};
        }
        const bool is_events = request.target.starts_with("/metadata/scheduledevents");
        return sys::HttpResponse{
            .status = 200,
            .body = is_events ? R"({"DocumentIncarnation":1,"Events":[{"EventId":"1",)"
                                R"("EventType":"Preempt","EventStatus":"Scheduled",)"
                                R"("Resources":["vm"],"NotBefore":""}]})"
                              : R"({"name":"vm","vmId":"1"})"};
      },
      "OUTLAST_AZURE_METADATA_ENDPOINT");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "azure");
}

}  // namespace
}  // namespace outlast::notice
