// A program that is not 'outlast' is never called so, whatever it says.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/completion.h"
#include "cli/program/exit_code.h"
#include "cli/program/help.h"
#include "cli/program/run.h"
#include "cli/program/standard_commands.h"
#include "cli/program/terminal.h"
#include "cli/program/testing/program_runner.h"
#include "sim/sim_surroundings.h"

namespace outlast::cli {
namespace {

using testing::ProgramRunner;
using testing::Ran;
using Lines = std::vector<std::string>;

CommandSpec paint_command() {
  return {.path = {"paint", "wall"},
          .group = "Work",
          .summary = "Paint a wall",
          .description = {"It takes a while."},
          .positionals = {{.name = "WALL", .help = "which one"}},
          .options = {{.name = "thick",
                       .value_name = "MM",
                       .help = "How thick",
                       .default_value = "0.5",
                       .decimal = true}},
          .examples = {{.command = "other-one paint wall north", .does = "Paint one"}},
          .run = [](const Invocation&, Context& context) -> Result<ExitCode> {
            context.terminal.warn("it is wet");
            return ExitCode::kOk;
          }};
}

Catalog other_catalog() {
  ProgramSpec program = {.name = "other-one",
                         .tagline = "does other things",
                         .typical_command = "paint wall",
                         .examples = {{.command = "other-one paint --help", .does = "see more"}}};
  std::vector<CommandSpec> commands = {paint_command(), help_command(program),
                                       completion_command(program), complete_command()};
  return {std::move(program), {{.name = "paint", .summary = "put on paint"}}, std::move(commands)};
}

Ran run_other(const Lines& arguments) {
  return ProgramRunner().run(other_catalog(), arguments);
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

TEST(OtherProgram, ErrorsNameIt) {
  EXPECT_EQ(run_other({"pant"}).err,
            "other-one: error: there is no command 'pant'; did you mean 'paint'? "
            "See: other-one --help\n");
  EXPECT_EQ(run_other({"paint"}).err,
            "other-one: error: 'other-one paint' needs one of wall. See: other-one paint --help\n");
  EXPECT_EQ(run_other({"paint", "wall"}).err,
            "other-one: error: 'other-one paint wall' needs WALL: which one. "
            "See: other-one paint wall --help\n");
  EXPECT_EQ(run_other({"paint", "wall", "n", "s"}).err,
            "other-one: error: 's' is one word too many for 'other-one paint wall'. "
            "See: other-one paint wall --help\n");
  EXPECT_EQ(run_other({"paint", "wall", "n", "--", "s"}).err,
            "other-one: error: 'other-one paint wall' takes nothing after '--'. "
            "See: other-one paint wall --help\n");
  EXPECT_EQ(run_other({"help", "paint", "wall", "n"}).err,
            "other-one: error: 'other-one paint wall n' is no command. "
            "See: other-one paint wall --help\n");
  EXPECT_EQ(run_other({"--versoin"}).err,
            "other-one: error: there is no option '--versoin'; did you mean '--version'? "
            "See: other-one --help\n");
}

TEST(OtherProgram, WarningsNameIt) {
  const Ran ran = run_other({"paint", "wall", "n"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "other-one: warning: it is wet\n");
}

TEST(OtherProgram, VersionNamesIt) {
  EXPECT_EQ(run_other({"--version"}).out, "other-one " + std::string(version()) + "\n");
  const auto json = parse_json(run_other({"--version", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["program"], "other-one");
}

TEST(OtherProgram, UsageLineNamesIt) {
  const Catalog catalog = other_catalog();
  EXPECT_EQ(usage_line(catalog.commands()[0]), "other-one paint wall [OPTION]... WALL");
  EXPECT_EQ(usage_line(*catalog.find(Lines{"help"})), "other-one help [OPTION]... [COMMAND...]");
}

TEST(OtherProgram, HelpBeginsWithIt) {
  const std::string help = run_other({"--help"}).out;
  EXPECT_TRUE(
      help.starts_with("other-one: does other things\n\n"
                       "Usage: other-one COMMAND [OPTION]... [ARGUMENT]...\n"))
      << help;
  EXPECT_TRUE(says(help, "\nOption of other-one itself:\n")) << help;
  EXPECT_TRUE(says(help, "\nExamples:\n  other-one paint --help         see more\n")) << help;
  EXPECT_TRUE(run_other({"paint", "--help"}).out.starts_with("other-one paint: put on paint\n"));
  EXPECT_TRUE(run_other({}).err.ends_with("\nMore: other-one --help\n"));
  EXPECT_TRUE(says(run_other({"help", "--help"}).out, "\n    other-one help paint wall\n"));
}

TEST(OtherProgram, NothingItSaysNamesOutlast) {
  for (const Lines& words : std::vector<Lines>{{},
                                               {"--help"},
                                               {"paint", "--help"},
                                               {"paint", "wall", "--help"},
                                               {"help", "--help"},
                                               {"help", "--json"},
                                               {"help", "--markdown"},
                                               {"completion", "--help"},
                                               {"completion", "bash"},
                                               {"completion", "zsh"},
                                               {"completion", "fish"}}) {
    const Ran ran = run_other(words);
    EXPECT_FALSE((ran.out + ran.err).empty());
    EXPECT_FALSE(says(ran.out + ran.err, "outlast")) << ran.out << ran.err;
  }
}

TEST(OtherProgram, CompletionScriptsAreForIt) {
  const ProgramSpec program = {.name = "other-one"};
  EXPECT_TRUE(says(completion_script(program, "bash"), "\ncomplete -F _other_one other-one\n"));
  EXPECT_TRUE(says(completion_script(program, "bash"), "\n_other_one() {\n"));
  EXPECT_TRUE(completion_script(program, "zsh").starts_with("#compdef other-one\n"));
  EXPECT_TRUE(says(completion_script(program, "zsh"), "compdef _other_one other-one\n"));
  EXPECT_TRUE(says(completion_script(program, "zsh"), "~/.zfunc/_other_one,"));
  EXPECT_TRUE(says(completion_script(program, "fish"), "\nfunction __other_one_complete\n"));
  EXPECT_TRUE(says(completion_script(program, "fish"), "complete -c other-one -f -a"));
  for (const std::string& shell : completion_shells()) {
    EXPECT_FALSE(says(completion_script(program, shell), "@PROGRAM@")) << shell;
    EXPECT_FALSE(says(completion_script(program, shell), "@FUNCTION@")) << shell;
  }
}

TEST(OtherProgram, CompletesItsOwnCommands) {
  EXPECT_EQ(run_other({"__complete", "--", "pa"}).out, "paint\tput on paint\n");
  EXPECT_EQ(run_other({"__complete", "--", "doct"}).out, "");
}

TEST(Defaults, AreShownBehindTheHelp) {
  const Catalog catalog = other_catalog();
  sim::SimConsole console;
  const Terminal terminal(console, {});
  const CommandSpec& command = catalog.commands()[0];
  EXPECT_TRUE(
      says(command_help(command, terminal), "\n  --thick MM          How thick (default: 0.5)\n"));
  EXPECT_TRUE(says(commands_markdown(catalog), "| `--thick MM` | How thick (default: 0.5) |\n"));
  const Json option = command_json(command)["options"][0];
  EXPECT_EQ(option["default"], "0.5");
  EXPECT_EQ(option["help"], "How thick");
}

TEST(Defaults, AreNotShownWhereThereIsNone) {
  for (const OptionSpec& option : common_options()) EXPECT_EQ(option_meaning(option), option.help);
  EXPECT_FALSE(
      command_json(*other_catalog().find(Lines{"help"}))["options"][0].contains("default"));
}

}  // namespace
}  // namespace outlast::cli
