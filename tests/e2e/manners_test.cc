#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "program.h"

namespace outlast::e2e {
namespace {

bool contains(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

TEST(Manners, NoCommandIsAMistake) {
  const Ended ended = outlast({});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(contains(ended.err, "Usage: outlast"));
}

TEST(Manners, AWrongWordIsOneLineWithTheNearest) {
  const Ended ended = outlast({"job", "chekc"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err,
            "outlast: error: there is no command 'job chekc'; did you mean 'check'? "
            "See: outlast job --help\n");
}

TEST(Manners, EveryCommandOfTheCatalogHasHelpAndTakesJson) {
  const auto catalog = parse_json(outlast({"help", "--json"}).out);
  ASSERT_TRUE(catalog);
  ASSERT_GE((*catalog)["commands"].size(), 5U);
  for (const Json& command : (*catalog)["commands"]) {
    SCOPED_TRACE(command["command"].get<std::string>());
    std::vector<std::string> words;
    std::istringstream name(command["command"].get<std::string>());
    for (std::string word; name >> word;) words.push_back(word);
    words.emplace_back("--help");
    EXPECT_TRUE(contains(outlast(words).out, command["usage"].get<std::string>()));
    words.emplace_back("--json");
    const auto help = parse_json(outlast(words).out);
    ASSERT_TRUE(help);
    EXPECT_EQ(*help, command);
    EXPECT_GE(command["examples"].size(), 1U);
  }
}

TEST(Manners, NoColourUnlessOnATerminal) {
  EXPECT_FALSE(contains(outlast({"--help"}).out, "\x1b"));
  EXPECT_TRUE(contains(outlast({"--help", "--color=always"}).out, "\x1b"));
}

TEST(Manners, ColourOnATerminalUnlessUnwanted) {
  const How normal{.input = {}, .environment = {{"TERM", "xterm"}}, .out_to = {}};
  EXPECT_TRUE(contains(outlast_on_terminal({"--help"}, normal).out, "\x1b[1m"));
  EXPECT_TRUE(contains(outlast_on_terminal({"nonsense"}, normal).out, "\x1b[31merror:"));
  EXPECT_FALSE(contains(outlast_on_terminal({"--help", "--color", "never"}, normal).out, "\x1b"));
  const How no_color{
      .input = {}, .environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, .out_to = {}};
  EXPECT_FALSE(contains(outlast_on_terminal({"--help"}, no_color).out, "\x1b"));
  const How dumb{.input = {}, .environment = {{"TERM", "dumb"}}, .out_to = {}};
  EXPECT_FALSE(contains(outlast_on_terminal({"--help"}, dumb).out, "\x1b"));
}

TEST(Manners, AFullDiskIsAFailure) {
  const Ended ended = outlast({"--help"}, {.input = {}, .environment = {}, .out_to = "/dev/full"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(ended.err.starts_with("outlast: error: write to standard output: "));
  EXPECT_TRUE(contains(ended.err, "No space left")) << ended.err;
}

TEST(Manners, AReaderThatStopsEarlyIsNoError) {
  const Ended ended =
      run({"bash", "-c", "outlast help --markdown | true; echo \"${PIPESTATUS[0]}\""});
  EXPECT_EQ(ended.err, "");
  // Usually the pipe is closed before we write to it; if not, all was delivered.
  EXPECT_TRUE(ended.out == "141\n" || ended.out == "0\n") << ended.out;
}

TEST(Manners, AClosedStandardOutputIsAFailureAndNeverAFile) {
  TemporaryFolder folder;
  const std::string job = folder.write("job.yaml", "name: a\nrun: b\n");
  const Ended ended = run({"bash", "-c", "outlast job check " + job + " >&-; echo $? >&2"});
  EXPECT_TRUE(ended.err.starts_with("outlast: error: write to standard output: ")) << ended.err;
  EXPECT_TRUE(ended.err.ends_with("\n1\n")) << ended.err;
  EXPECT_EQ(read_text(job), "name: a\nrun: b\n");
}

TEST(Manners, BytesThatAreNotTextDoNotReachTheTerminal) {
  const Ended ended = outlast({"job", "\x1b[2J\x07"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_FALSE(contains(ended.err, "\x1b"));
  EXPECT_TRUE(parse_json(outlast({"--json", "\xff\xfe"}).out));
}

}  // namespace
}  // namespace outlast::e2e
