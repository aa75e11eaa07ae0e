#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/testing/command_runner.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

using std::chrono::seconds;
using testing::CommandRunner;
using testing::Ran;

bool has_words(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Runs it beside a person who sends these signals, ten seconds apart.
Ran serve_until(CommandRunner& runner, const std::vector<std::string>& arguments,
                const std::vector<int>& signals) {
  Ran ran;
  runner.run_body([&](sys::World& world) {
    const auto person = world.threads.spawn("person", [&](const std::stop_token&) {
      for (const int signal : signals) {
        (void)world.clock.sleep_for(seconds(10), {});
        runner.machine().signal(signal);
      }
    });
    ran.exit_code = static_cast<int>(run(arguments, world));
  });
  ran.out = runner.machine().console().out_text;
  ran.err = runner.machine().console().err_text;
  return ran;
}

TEST(StandInCommand, SaysWhereItIsAndWhatHappensUntilCtrlC) {
  CommandRunner runner;
  runner.add_file("/script", "1s preempt 30s\n2s withdraw\n3s fail 503 for 5s\n1h preempt\n");
  const Ran ran = serve_until(
      runner, {"stand-in", "gce", "--listen", "127.0.0.1:8080", "--script", "/script"}, {SIGINT});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "# gce at http://127.0.0.1:8080\n"
            "export GCE_METADATA_HOST=127.0.0.1:8080\n"
            "export GCE_METADATA_IP=127.0.0.1:8080\n"
            "2026-01-01 00:00:01Z happened: preempt 30s\n"
            "2026-01-01 00:00:02Z happened: withdraw\n"
            "2026-01-01 00:00:03Z happened: fail 503 for 5s\n");
  EXPECT_EQ(ran.err, "Ctrl-C ends it\n");
}

TEST(StandInCommand, WithJsonEachLineIsAnObject) {
  CommandRunner runner;
  const Ran ran = serve_until(
      runner, {"stand-in", "ec2", "--json", "--preempt-after", "5s", "--notice-time", "90s"},
      {SIGTERM});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::vector<Json> lines;
  std::istringstream text(ran.out);
  for (std::string line; std::getline(text, line);) {
    const auto json = parse_json(line);
    ASSERT_TRUE(json) << line;
    lines.push_back(*json);
  }
  ASSERT_EQ(lines.size(), 2U) << ran.out;
  EXPECT_EQ(lines[0]["event"], "serving");
  EXPECT_EQ(lines[0]["cloud"], "ec2");
  EXPECT_EQ(lines[0]["environment"]["AWS_EC2_METADATA_SERVICE_ENDPOINT"], lines[0]["url"]);
  EXPECT_EQ(lines[1]["event"], "happened");
  EXPECT_EQ(lines[1]["text"], "preempt 1m30s");
}

TEST(StandInCommand, SignalsAnnounceAndWithdraw) {
  CommandRunner runner;
  const Ran ran = serve_until(runner, {"stand-in", "azure"}, {SIGUSR1, SIGUSR2, SIGHUP});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(has_words(ran.out, "happened: preempt 30s\n")) << ran.out;
  EXPECT_TRUE(has_words(ran.out, "happened: withdraw\n")) << ran.out;
}

TEST(StandInCommand, TellsOfWhatIsAskedOfIt) {
  CommandRunner runner;
  Ran ran;
  runner.run_body([&](sys::World& world) {
    const auto person = world.threads.spawn("person", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(seconds(10), {});
      const std::string events =
          "http://127.0.0.1:8080/metadata/scheduledevents?api-version=2020-07-01";
      EXPECT_TRUE(world.http.send({.url = events}, {}));
      const auto said = world.http.send({.url = events, .headers = {{"Metadata", "true"}}}, {});
      ASSERT_TRUE(said) << said.error().to_string();
      const std::string id = parse_json(said->body).value_or(Json())["Events"][0]["EventId"];
      const std::string body = canonical_json({{"StartRequests", {{{"EventId", id}}}}});
      const auto taken = world.http.send({.method = "POST",
                                          .url = events,
                                          .headers = {{"Metadata", "true"}},
                                          .body = as_bytes(body)},
                                         {});
      EXPECT_EQ(taken ? taken->status : 0, 200);
      runner.machine().signal(SIGINT);
    });
    ran.exit_code = static_cast<int>(run(
        std::vector<std::string>{"stand-in", "azure", "--listen", ":8080", "--preempt-after", "1s"},
        world));
  });
  const std::string out = runner.machine().console().out_text;
  EXPECT_TRUE(has_words(out,
                        "refused: GET /metadata/scheduledevents is refused with 400: the header "
                        "'Metadata: true' is missing\n"))
      << out;
  EXPECT_TRUE(has_words(out, "acknowledged: event ")) << out;
  EXPECT_TRUE(has_words(out, " (Preempt) may happen now\n")) << out;
}

TEST(StandInCommand, AWrongCommandLineIsOneSentence) {
  struct Case {
    std::vector<std::string> arguments;
    std::string sentence;
  };
  const std::vector<Case> cases = {
      {{"stand-in", "gce", "--listen", "nonsense:"},
       "--listen takes an address and a port such as 127.0.0.1:8080, not 'nonsense:'"},
      {{"stand-in", "gce", "--listen", "127.0.0.1:70000"}, "not '127.0.0.1:70000'"},
      {{"stand-in", "gce", "--listen", "::1"}, "not '::1'"},
      {{"stand-in", "gce", "--preempt-after", "soon"}, "--preempt-after: "},
      {{"stand-in", "gce", "--notice-time", "30"}, "--notice-time: "},
      {{"stand-in", "gce", "--script", "/s", "--preempt-after", "1s"},
       "--script and --preempt-after exclude each other"},
      {{"stand-in", "oracle"}, "oracle"},
      {{"stand-in"}, "CLOUD"}};
  for (const Case& one : cases) {
    const Ran ran = testing::run_command(one.arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(has_words(ran.err, one.sentence)) << ran.err;
  }
}

TEST(StandInCommand, AScriptWithAMistakeIsRefusedBeforeAnythingIsServed) {
  CommandRunner runner;
  runner.add_file("/day", "10s preempt\n20s wihtdraw\n");
  const Ran ran = runner.run({"stand-in", "gce", "--script", "/day"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "outlast: error: script /day: line 2: 'wihtdraw' is nothing that can happen to gce; "
            "did you mean 'withdraw'?\n");
  EXPECT_EQ(testing::run_command({"stand-in", "gce", "--script", "/no-such"}).exit_code, 3);
}

}  // namespace
}  // namespace outlast::cli
