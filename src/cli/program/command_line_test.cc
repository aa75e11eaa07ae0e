#include "cli/program/command_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"

namespace outlast::cli {
namespace {

using Words = std::vector<std::string>;

CommandSpec example_command() {
  return {.path = {"job", "try"},
          .positionals =
              {{.name = "FILE", .help = "a file"},
               {.name = "MODE", .help = "how", .required = false, .words = {"fast", "slow"}}},
          .options = {{.name = "seed", .value_name = "N", .help = "any text"},
                      {.name = "count", .value_name = "N", .help = "a number", .number = true},
                      {.name = "rate", .value_name = "X", .help = "how fast", .decimal = true}},
          .hidden = true,
          .run = [](const Invocation&, Context&) { return ExitCode::kOk; },
          .program = "outlast"};
}

Catalog example_catalog() {
  CommandSpec visible = example_command();
  visible.hidden = false;
  visible.group = "g";
  visible.summary = "s";
  visible.description = {"d"};
  visible.examples = {{"c", "d"}};
  return {{.name = "outlast"}, {{"job", "jobs"}}, {visible}};
}

Result<Invocation> parsed(const Words& words) {
  static const CommandSpec kCommand = example_command();
  return parse_invocation(kCommand, words);
}

std::string mistake_in(const Words& words) {
  const Result<Invocation> invocation = parsed(words);
  return invocation ? "no mistake" : invocation.error().sentence();
}

TEST(SplitWords, CutsAtTheFirstDoubleDashOnly) {
  const SplitWords split = split_at_double_dash(Words{"run", "--", "python", "--", "-x"});
  EXPECT_EQ(split.words, Words{"run"});
  EXPECT_TRUE(split.has_trailing);
  EXPECT_EQ(split.trailing, (Words{"python", "--", "-x"}));
  EXPECT_FALSE(split_at_double_dash(Words{"run"}).has_trailing);
}

TEST(ResolveCommand, OptionsMayStandAnywhere) {
  const Catalog catalog = example_catalog();
  const auto resolved = resolve_command(
      catalog, Words{"--color", "never", "job", "--json", "try", "x", "--seed", "1"});
  ASSERT_TRUE(resolved);
  ASSERT_NE(resolved->command, nullptr);
  EXPECT_EQ(resolved->command->name(), "job try");
  EXPECT_EQ(resolved->rest, (Words{"--color", "never", "--json", "x", "--seed", "1"}));
}

TEST(ResolveCommand, UnknownWordNamesTheNearest) {
  const Catalog catalog = example_catalog();
  EXPECT_EQ(resolve_command(catalog, Words{"jbo"}).error().sentence(),
            "there is no command 'jbo'; did you mean 'job'? See: outlast --help");
  EXPECT_EQ(resolve_command(catalog, Words{"job", "tri"}).error().sentence(),
            "there is no command 'job tri'; did you mean 'try'? See: outlast job --help");
  EXPECT_EQ(resolve_command(catalog, Words{"\x1b[31m"}).error().sentence(),
            "there is no command '\\x1b[31m'. See: outlast --help");
}

TEST(ResolveCommand, AGroupAloneIsNoCommand) {
  const Catalog catalog = example_catalog();
  const auto resolved = resolve_command(catalog, Words{"job", "--help"});
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->command, nullptr);
  EXPECT_EQ(resolved->path, Words{"job"});
}

TEST(ParseInvocation, ReadsOptionsAndArguments) {
  const auto invocation = parsed({"--json", "a.yaml", "--seed=-5", "-q", "fast"});
  ASSERT_TRUE(invocation) << invocation.error().to_string();
  EXPECT_EQ(invocation->positionals, (Words{"a.yaml", "fast"}));
  EXPECT_EQ(invocation->value("seed"), "-5");
  EXPECT_TRUE(invocation->flag("json"));
  EXPECT_TRUE(invocation->flag("quiet"));
  EXPECT_FALSE(invocation->value("color"));
}

// What CLI11 by itself would take, swallow or read in another way.
TEST(ParseInvocation, ValuesAreTakenLiterally) {
  EXPECT_EQ(parsed({"f", "--seed", "-5"})->value("seed"), "-5");
  EXPECT_EQ(parsed({"f", "--seed", "[a,b]"})->value("seed"), "[a,b]");
  EXPECT_EQ(parsed({"f", "--seed=--json"})->value("seed"), "--json");
  EXPECT_EQ(parsed({"f", "--seed", "a=b"})->value("seed"), "a=b");
  EXPECT_EQ(parsed({"++"})->positionals, Words{"++"});
  EXPECT_EQ(parsed({"-"})->positionals, Words{"-"});
}

TEST(ParseInvocation, ReadsNumbers) {
  EXPECT_EQ(parsed({"f", "--count", "18446744073709551615"})->number("count"), ~0ULL);
  EXPECT_EQ(parsed({"f"})->number("count"), std::nullopt);
  for (const char* wrong : {"many", "-1", "1.5", "1 ", "0x10", "18446744073709551616"}) {
    EXPECT_EQ(mistake_in({"f", "--count", wrong}),
              std::string("--count must be a whole number below 2^64, not '") + wrong +
                  "'. See: outlast job try --help");
  }
}

TEST(ParseInvocation, ReadsDecimals) {
  EXPECT_EQ(parsed({"f", "--rate", "0.001"})->decimal("rate"), 0.001);
  EXPECT_EQ(parsed({"f", "--rate=1e-4"})->decimal("rate"), 1e-4);
  EXPECT_EQ(parsed({"f", "--rate", "-2.5"})->decimal("rate"), -2.5);
  EXPECT_EQ(parsed({"f", "--rate", "3"})->decimal("rate"), 3.0);
  EXPECT_EQ(parsed({"f"})->decimal("rate"), std::nullopt);
  for (const char* wrong : {"fast", "0,5", "nan", "inf", "-inf", "1e999", "0x1p3", "+1", "1 "}) {
    EXPECT_EQ(mistake_in({"f", "--rate", wrong}),
              std::string("--rate must be a decimal number such as 0.001 or 1e-4, not '") + wrong +
                  "'. See: outlast job try --help");
  }
}

TEST(ParseInvocation, EveryMistakeIsOneSentence) {
  const std::string see = " See: outlast job try --help";
  EXPECT_EQ(mistake_in({"f", "--jsn"}), "there is no option '--jsn'; did you mean '--json'?" + see);
  EXPECT_EQ(mistake_in({"f", "--js"}), "there is no option '--js'; did you mean '--json'?" + see);
  EXPECT_EQ(mistake_in({"f", "--sede=4"}),
            "there is no option '--sede'; did you mean '--seed'?" + see);
  EXPECT_EQ(mistake_in({"f", "-j"}), "there is no option '-j'." + see);
  EXPECT_EQ(mistake_in({"f", "-qx"}), "there is no option '-x'." + see);
  EXPECT_EQ(mistake_in({"f", "---json"}),
            "there is no option '---json'; did you mean '--json'?" + see);
  EXPECT_EQ(mistake_in({"f", "--seed"}), "--seed needs a value." + see);
  EXPECT_EQ(mistake_in({"f", "--seed="}), "--seed needs a value: N." + see);
  EXPECT_EQ(mistake_in({"--seed=", "f"}), "--seed needs a value: N." + see);
  EXPECT_EQ(mistake_in({"f", "--seed", "--json"}),
            "--seed needs a value, but '--json' follows it." + see);
  EXPECT_EQ(mistake_in({"f", "--seed", "1", "--seed=2"}), "--seed was given twice." + see);
  EXPECT_EQ(mistake_in({"f", "--json=yes"}),
            "--json takes no value, so '--json=yes' means nothing." + see);
  EXPECT_EQ(mistake_in({"f", "--color", "nevr"}),
            "--color is one of auto, always, never, not 'nevr'; did you mean 'never'?" + see);
  EXPECT_EQ(mistake_in({"f", "fats"}),
            "MODE is one of fast, slow, not 'fats'; did you mean 'fast'?" + see);
  EXPECT_EQ(mistake_in({"f", "fast", "x"}),
            "'x' is one word too many for 'outlast job try'." + see);
  EXPECT_EQ(mistake_in({}), "'outlast job try' needs FILE: a file." + see);
  EXPECT_EQ(mistake_in({""}), "FILE is an empty word." + see);
}

TEST(ParseInvocation, OptionsCanBeRequiredAndRepeated) {
  const CommandSpec command = {
      .path = {"ship"},
      .options = {{.name = "to", .value_name = "PORT", .help = "where to", .required = true},
                  {.name = "box", .value_name = "ID", .help = "what", .repeated = true}},
      .program = "outlast"};
  const auto shipped =
      parse_invocation(command, Words{"--box", "b=1", "--to", "Oslo", "--box=a", "--box", "b=1"});
  ASSERT_TRUE(shipped) << shipped.error().to_string();
  EXPECT_EQ(shipped->required("to"), "Oslo");
  EXPECT_EQ(shipped->list("box"), (Words{"b=1", "a", "b=1"}));
  EXPECT_EQ(parse_invocation(command, Words{"--to", "Oslo"})->list("box"), Words{});
  EXPECT_EQ(parse_invocation(command, Words{"--box", "a"}).error().sentence(),
            "'outlast ship' needs --to PORT: where to. See: outlast ship --help");
  EXPECT_EQ(parse_invocation(command, Words{"--to", "Oslo", "--box", "--json"}).error().sentence(),
            "--box needs a value, but '--json' follows it. See: outlast ship --help");
}

}  // namespace
}  // namespace outlast::cli
