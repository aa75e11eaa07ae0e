#include "cli/program/help.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "sim/sim_surroundings.h"

namespace outlast::cli {
namespace {

bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), kHelpWidth) << line;
  }
}

class HelpTest : public ::testing::Test {
 protected:
  const Catalog catalog_ = make_catalog();
  sim::SimConsole console_;
  const Terminal plain_{console_, {}};
};

TEST_F(HelpTest, OfEveryCommandSaysEverything) {
  for (const CommandSpec& command : catalog_.commands()) {
    if (command.hidden) continue;
    const std::string text = command_help(command, plain_);
    expect_narrow(text);
    EXPECT_TRUE(mentions(text, usage_line(command)));
    for (const OptionSpec& option : command.options)
      EXPECT_TRUE(mentions(text, "--" + option.name));
    for (const OptionSpec& option : common_options())
      EXPECT_TRUE(mentions(text, "--" + option.name));
    for (const PositionalSpec& one : command.positionals) EXPECT_TRUE(mentions(text, one.name));
    for (const Example& example : command.examples) EXPECT_TRUE(mentions(text, example.command));
  }
}

TEST_F(HelpTest, OfTheProgramListsCommandsAndExitCodes) {
  const std::string text = program_help(catalog_, plain_);
  expect_narrow(text);
  for (const CommandSpec& command : catalog_.commands()) {
    EXPECT_EQ(mentions(text, "  " + command.name() + " "), !command.hidden) << command.name();
  }
  for (const ExitCodeMeaning& row : exit_code_meanings()) {
    EXPECT_TRUE(mentions(text, std::string(row.meaning)));
  }
}

TEST_F(HelpTest, OfEveryGroupListsItsCommands) {
  for (const GroupSpec& group : catalog_.groups()) {
    const std::string text = group_help(catalog_, group.name, plain_);
    expect_narrow(text);
    for (const CommandSpec& command : catalog_.commands()) {
      if (command.path[0] == group.name) {
        EXPECT_TRUE(mentions(text, command.summary));
      }
    }
  }
}

TEST_F(HelpTest, HasNoEscapesUnlessColoured) {
  EXPECT_FALSE(mentions(program_help(catalog_, plain_), "\x1b"));
  const Terminal coloured(console_, {.colour_out = true});
  EXPECT_TRUE(mentions(program_help(catalog_, coloured), "\x1b[1m"));
}

TEST_F(HelpTest, AsDataHasEveryVisibleCommand) {
  const Json json = catalog_json(catalog_);
  std::size_t visible = 0;
  for (const CommandSpec& command : catalog_.commands()) visible += command.hidden ? 0 : 1;
  EXPECT_EQ(json["commands"].size(), visible);
  EXPECT_EQ(json["exit_codes"].size(), exit_code_meanings().size());
}

TEST_F(HelpTest, TheDocumentIsUpToDate) {
  std::ifstream file(OUTLAST_SOURCE_DIR "/docs/commands.md");
  std::ostringstream document;
  document << file.rdbuf();
  EXPECT_EQ(document.str(), commands_markdown(catalog_))
      << "Update it: build/bin/outlast help --markdown > docs/commands.md";
}

}  // namespace
}  // namespace outlast::cli
