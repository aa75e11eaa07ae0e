#include "cli/program/terminal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cli/program/progress_line.h"
#include "cli/program/testing/program_runner.h"
#include "cli/program/text_layout.h"
#include "sim/sim_surroundings.h"

namespace outlast::cli {
namespace {

using std::chrono::milliseconds;

TEST(Colour, OnlyOnATerminalUnlessAsked) {
  sim::SimEnvironment environment;
  EXPECT_TRUE(use_colour(ColourChoice::kAuto, true, environment));
  EXPECT_FALSE(use_colour(ColourChoice::kAuto, false, environment));
  EXPECT_TRUE(use_colour(ColourChoice::kAlways, false, environment));
  EXPECT_FALSE(use_colour(ColourChoice::kNever, true, environment));
}

TEST(Colour, NoColorCountsOnlyIfItSaysSomething) {
  sim::SimEnvironment environment;
  environment.variables["NO_COLOR"] = "";
  EXPECT_TRUE(use_colour(ColourChoice::kAuto, true, environment));
  environment.variables["NO_COLOR"] = "1";
  EXPECT_FALSE(use_colour(ColourChoice::kAuto, true, environment));
  EXPECT_TRUE(use_colour(ColourChoice::kAlways, true, environment));
}

TEST(Colour, NotOnADumbTerminal) {
  sim::SimEnvironment environment;
  environment.variables["TERM"] = "dumb";
  EXPECT_FALSE(use_colour(ColourChoice::kAuto, true, environment));
}

TEST(Locale, TheFirstVariableThatIsSetDecides) {
  sim::SimEnvironment environment;
  EXPECT_FALSE(speaks_utf8(environment));
  environment.variables["LANG"] = "de_DE.UTF-8";
  EXPECT_TRUE(speaks_utf8(environment));
  environment.variables["LC_ALL"] = "C";
  EXPECT_FALSE(speaks_utf8(environment));
  environment.variables["LC_ALL"] = "C.utf8";
  EXPECT_TRUE(speaks_utf8(environment));
}

TEST(Terminal, NotesAreForPeopleWhoWantThem) {
  for (const Terminal::Manner& manner :
       {Terminal::Manner{.json = true}, Terminal::Manner{.quiet = true}}) {
    sim::SimConsole console;
    Terminal(console, manner).note("n");
    EXPECT_EQ(console.err_text, "");
  }
  sim::SimConsole console;
  Terminal(console, {}).note("n");
  EXPECT_EQ(console.err_text, "n\n");
}

TEST(Terminal, ErrorsAreRedOnATerminalOnly) {
  sim::SimConsole console;
  Terminal(console, {.program = "outlast", .colour_err = true}).error("c", "bad");
  EXPECT_EQ(console.err_text, "outlast: \x1b[31merror:\x1b[0m bad\n");
}

TEST(Terminal, WarningsAreSeenWhateverWasAskedFor) {
  for (const Terminal::Manner& manner :
       {Terminal::Manner{.program = "p"}, Terminal::Manner{.program = "p", .quiet = true},
        Terminal::Manner{.program = "p", .json = true}}) {
    sim::SimConsole console;
    Terminal(console, manner).warn("odd");
    EXPECT_EQ(console.err_text, "p: warning: odd\n");
    EXPECT_EQ(console.out_text, "");
  }
}

// Draws `text` at these moments and returns what the screen was sent.
std::string drawn_at(const std::vector<int>& milliseconds_list, bool is_terminal,
                     const std::string& text) {
  testing::ProgramRunner runner;
  sim::SimConsole console;
  console.terminal = is_terminal;
  runner.run_body([&](sys::World& world) {
    const Terminal terminal(console, {});
    const MonoTime start = world.clock.mono_now();
    ProgressLine line(terminal, world.clock);
    for (const int moment : milliseconds_list) {
      ASSERT_TRUE(world.clock.sleep_until(start + milliseconds(moment), {}));
      line.update(text);
    }
  });
  return console.err_text;
}

TEST(ProgressLine, IsRedrawnInPlaceAndGoneAtTheEnd) {
  EXPECT_EQ(drawn_at({1}, true, "step 1"), "\r\x1b[Kstep 1\r\x1b[K");
}

TEST(ProgressLine, IsDrawnTenTimesASecondAtMost) {
  EXPECT_EQ(drawn_at({1, 20, 50, 200}, true, "x"), "\r\x1b[Kx\r\x1b[Kx\r\x1b[K");
}

TEST(ProgressLine, IsSilentWhenNobodyWatches) {
  EXPECT_EQ(drawn_at({1, 200}, false, "x"), "");
}

TEST(ProgressLine, IsCutToTheWidth) {
  EXPECT_EQ(drawn_at({1}, true, std::string(200, 'x')),
            "\r\x1b[K" + std::string(79, 'x') + "\r\x1b[K");
}

TEST(TextLayout, WrapsAtSpacesAndKeepsLongWords) {
  EXPECT_EQ(wrap("a bb ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(wrap("abcdef g", 4), (std::vector<std::string>{"abcdef", "g"}));
  EXPECT_EQ(wrap("äö üß", 5), (std::vector<std::string>{"äö üß"}));
}

TEST(TextLayout, DefinitionsAlign) {
  EXPECT_EQ(definition("-a", "b c", 2, 8, 12), "  -a    b c\n");
  EXPECT_EQ(definition("--longer", "b", 2, 8, 12), "  --longer\n        b\n");
  EXPECT_EQ(definition("-a", "bbb ccc", 2, 8, 12), "  -a    bbb\n        ccc\n");
}

TEST(TextLayout, PrintableHidesControlCharactersAndLength) {
  EXPECT_EQ(printable("a\x1b[0m\n"), "a\\x1b[0m\\x0a");
  EXPECT_EQ(display_width(printable(std::string(5000, 'x'))), 103U);
}

}  // namespace
}  // namespace outlast::cli
