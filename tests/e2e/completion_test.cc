#include <gtest/gtest.h>

#include <string>

#include "program.h"

// The scripts in the real shells: what would be offered for a line that is being typed.
namespace outlast::e2e {
namespace {

#define OUTLAST_NEEDS_SHELL(name) \
  if (!is_installed(name)) GTEST_SKIP() << "missing: " name

std::string bash_offers(const std::string& words, int current) {
  const std::string script = "source <(outlast completion bash); COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(current) +
                             "; _outlast outlast; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const Ended ended = run({"bash", "--norc", "-uc", script});
  EXPECT_EQ(ended.err, "");
  return ended.out;
}

std::string fish_offers(const std::string& line) {
  TemporaryFolder home;
  How how;
  how.environment = {{"HOME", home.path()}, {"XDG_DATA_HOME", home.path()}};
  const Ended ended = run(
      {"fish", "--no-config", "-c", "outlast completion fish | source; complete -C '" + line + "'"},
      how);
  EXPECT_EQ(ended.err, "");
  return ended.out;
}

// A zsh on a terminal of its own: types the line and a tab, and returns what the line became.
std::string zsh_completes(const std::string& line) {
  TemporaryFolder home;
  const std::string script = R"script(
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
say 'PS1=; autoload -U compinit; compinit -u -D; source <(outlast completion zsh)'
say 'show-line() { print -r -- "<<$BUFFER>>"; zle -I }; zle -N show-line; bindkey "^X" show-line'
say 'print re""ady'
zpty -r -m shell seen '*ready*'
zpty -w -n shell $'LINE\t\x18'
zpty -r -m shell seen '*<<*>>*'
print -r -- "${${seen##*<<}%%>>*}"
zpty -d shell
)script";
  std::string filled = script;
  filled.replace(filled.find("LINE"), 4, line);
  How how;
  how.environment = {{"HOME", home.path()}, {"TERM", "dumb"}, {"LC_ALL", "C"}};
  return run({"zsh", "-fc", filled}, how).out;
}

TEST(BashCompletion, OffersWords) {
  OUTLAST_NEEDS_SHELL("bash");
  EXPECT_EQ(bash_offers("outlast jo", 1), "job\n");
  EXPECT_EQ(bash_offers("outlast job ''", 2), "check\nschema\n");
  EXPECT_EQ(bash_offers("outlast doctor --j", 2), "--json\n");
  EXPECT_EQ(bash_offers("outlast doctor --color n", 3), "never\n");
}

// bash gives "--color=n" as three words, and replaces only the last.
TEST(BashCompletion, OffersValuesAfterAnEqualsSign) {
  OUTLAST_NEEDS_SHELL("bash");
  EXPECT_EQ(bash_offers("outlast doctor --color = n", 4), "never\n");
  EXPECT_EQ(bash_offers("outlast doctor --color =", 3), "auto\nalways\nnever\n");
}

TEST(BashCompletion, OffersFiles) {
  OUTLAST_NEEDS_SHELL("bash");
  EXPECT_EQ(bash_offers("outlast job check CMakeLists.t", 3), "CMakeLists.txt\n");
}

TEST(FishCompletion, OffersWordsWithTheirMeaning) {
  OUTLAST_NEEDS_SHELL("fish");
  EXPECT_TRUE(fish_offers("outlast jo").starts_with("job\t"));
  EXPECT_TRUE(fish_offers("outlast job ch").starts_with("check\t"));
  EXPECT_EQ(fish_offers("outlast doctor --color n"), "never\n");
  EXPECT_EQ(fish_offers("outlast doctor --color=n"), "--color=never\n");
  EXPECT_NE(fish_offers("outlast job check CMakeLists.t").find("CMakeLists.txt"),
            std::string::npos);
}

TEST(ZshCompletion, IsValid) {
  OUTLAST_NEEDS_SHELL("zsh");
  How how;
  how.input = outlast({"completion", "zsh"}).out;
  const Ended ended = run({"zsh", "-n", "/dev/stdin"}, how);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(ZshCompletion, CompletesTheLine) {
  OUTLAST_NEEDS_SHELL("zsh");
  EXPECT_EQ(zsh_completes("outlast docto"), "outlast doctor \n");
  EXPECT_EQ(zsh_completes("outlast job sch"), "outlast job schema \n");
  EXPECT_EQ(zsh_completes("outlast doctor --color=nev"), "outlast doctor --color=never \n");
  EXPECT_EQ(zsh_completes("outlast job check CMakeLists.t"), "outlast job check CMakeLists.txt \n");
}

}  // namespace
}  // namespace outlast::e2e
