// The stand-ins of the metadata services as a program, on real sockets.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "program.h"
#include "sys/http.h"
#include "sys/posix_http_client.h"

namespace outlast::e2e {
namespace {

const sys::HttpHeaders kFlavor = {{"Metadata-Flavor", "Google"}};

// What it serves, as its first line says.
Json serving(Running& program) {
  const std::string line = program.read_line();
  const Result<Json> json = parse_json(line);
  EXPECT_TRUE(json) << line;
  return json.value_or(Json{{"url", ""}});
}

std::string ask(sys::HttpRequest request) {
  const std::unique_ptr<sys::HttpClient> client = sys::make_posix_http_client();
  request.direct = true;
  request.stall_timeout = std::chrono::minutes(5);
  const Result<sys::HttpResponse> answer = client->send(request, {});
  return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().to_string();
}

TEST(StandIn, AScriptIsPlayedAndToldOf) {
  TemporaryFolder folder;
  const std::string script = folder.write("script", "# at once\n0s preempt 30s\n");
  Running program({"stand-in", "gce", "--json", "--script", script});
  const std::string url = serving(program)["url"];
  const std::string line = program.read_line();
  EXPECT_NE(line.find("\"text\":\"preempt 30s\""), std::string::npos) << line;
  const std::string preempted = url + "/computeMetadata/v1/instance/preempted";
  EXPECT_EQ(ask({.url = preempted, .headers = kFlavor}), "200 TRUE");
  EXPECT_EQ(ask({.url = preempted}).substr(0, 4), "403 ");
  EXPECT_NE(program.read_line().find("\"event\":\"refused\""), std::string::npos);
  program.signal(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(StandIn, ASignalAnnouncesTheEndToWhoeverWaits) {
  Running program({"stand-in", "gce", "--json"});
  const std::string preempted =
      serving(program)["url"].get<std::string>() + "/computeMetadata/v1/instance/preempted";
  const auto client = sys::make_posix_http_client();
  const auto before = client->send({.url = preempted, .headers = kFlavor, .direct = true}, {});
  ASSERT_TRUE(before) << before.error().to_string();
  const std::string etag(sys::find_header(before->headers, "ETag").value_or(""));
  std::string heard;
  std::thread waits([&] {
    heard = ask({.url = preempted + "?wait_for_change=true&last_etag=" + etag, .headers = kFlavor});
  });
  program.signal(SIGUSR1);
  waits.join();
  EXPECT_EQ(heard, "200 TRUE");
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 0);
}

TEST(StandIn, CtrlCEndsItAlsoWhileSomebodyWaits) {
  Running program({"stand-in", "gce"});
  std::string line = program.read_line();
  ASSERT_EQ(line.substr(0, 9), "# gce at ") << line;
  const std::string url = line.substr(9, line.size() - 10);
  EXPECT_EQ(program.read_line(), "export GCE_METADATA_HOST=" + url.substr(7) + "\n");
  EXPECT_EQ(program.read_line(), "export GCE_METADATA_IP=" + url.substr(7) + "\n");
  std::thread waits([&] {
    (void)ask({.url = url + "/computeMetadata/v1/instance/preempted?wait_for_change=true",
               .headers = kFlavor});
  });
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 0);
  waits.join();
}

TEST(StandIn, ATakenPortIsAMistakeThatIsNamed) {
  Running program({"stand-in", "azure", "--json"});
  const std::string url = serving(program)["url"];
  const std::string place = url.substr(7);
  const Ended second = outlast({"stand-in", "azure", "--listen", place});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.err, "outlast: error: listen on " + place +
                            ": the port is taken; choose another, or 0 for a free one\n");
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 0);
}

TEST(StandIn, MistakesEndItBeforeAnythingIsServed) {
  TemporaryFolder folder;
  const std::string junk = folder.write("junk", std::string("\x7f"
                                                            "ELF\0\1\2",
                                                            7));
  const Ended script = outlast({"stand-in", "ec2", "--script", junk});
  EXPECT_EQ(script.exit_code, 3);
  EXPECT_NE(script.err.find("line 1: it is too long, or no plain text"), std::string::npos)
      << script.err;
  EXPECT_EQ(outlast({"stand-in", "ec2", "--preempt-in", "5s"}).exit_code, 2);
  EXPECT_EQ(outlast({"stand-in", "ec2", "--listen", "192.0.2.1:80"}).exit_code, 1);
  const Ended name = outlast({"stand-in", "ec2", "--listen", "localhost:80"});
  EXPECT_EQ(name.exit_code, 3);
  EXPECT_NE(name.err.find("give an IP address of this machine"), std::string::npos) << name.err;
}

TEST(StandIn, StandsAtTheRealAddressInANetworkOfItsOwn) {
  if (run({"unshare", "-rn", "ip", "link", "set", "lo", "up"}).exit_code != 0 ||
      !is_installed("curl")) {
    GTEST_SKIP() << "no network namespaces here, or no ip or curl";
  }
  const Ended ended = run({"unshare", "-rn", "bash", "-c", R"(
    ip link set lo up && ip addr add 169.254.169.254/32 dev lo || exit 99
    coproc S { exec outlast stand-in ec2 --listen 169.254.169.254:80; }
    pid=$S_PID
    read -r first <&"${S[0]}"; read -r second <&"${S[0]}"
    echo "$first"; echo "$second"
    token=$(curl -s --noproxy '*' -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
      http://169.254.169.254/latest/api/token)
    curl -s --noproxy '*' -H "X-aws-ec2-metadata-token: $token" \
      http://169.254.169.254/latest/meta-data/instance-life-cycle
    kill -TERM $pid; wait $pid; echo " $?")"});
  EXPECT_EQ(ended.out,
            "# ec2 at http://169.254.169.254:80\n"
            "export AWS_EC2_METADATA_SERVICE_ENDPOINT=http://169.254.169.254:80\n"
            "spot 0\n")
      << ended.err;
}

}  // namespace
}  // namespace outlast::e2e
