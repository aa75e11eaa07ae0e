#include "cli/program/completion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/commands.h"

namespace outlast::cli {
namespace {

using Typed = std::vector<std::string>;

Completion completed(const Typed& words) {
  return complete(make_catalog(), words);
}

std::vector<std::string> candidates(const Typed& words) {
  std::vector<std::string> found;
  for (const Candidate& candidate : completed(words).candidates) found.push_back(candidate.word);
  return found;
}

TEST(Completion, OfCommands) {
  EXPECT_EQ(candidates({"jo"}), Typed{"job"});
  EXPECT_EQ(candidates({"job", ""}), (Typed{"check", "schema"}));
  EXPECT_EQ(candidates({"--json", "doc"}), Typed{"doctor"});
  EXPECT_EQ(candidates({"--color", "never", "doc"}), Typed{"doctor"});
  EXPECT_EQ(candidates({"nonsense", ""}), Typed{});
}

TEST(Completion, NeverOffersHiddenCommands) {
  EXPECT_EQ(candidates({"__"}), Typed{});
  for (const std::string& word : candidates({})) EXPECT_FALSE(word.starts_with("_"));
}

TEST(Completion, SaysWhatACommandIs) {
  ASSERT_EQ(completed({"doctor"}).candidates.size(), 1U);
  EXPECT_NE(completed({"doctor"}).candidates[0].help, "");
  EXPECT_NE(completed({"job"}).candidates[0].help, "");
}

TEST(Completion, OfOptionsThatAreNotGivenYet) {
  EXPECT_EQ(candidates({"doctor", "--j"}), Typed{"--json"});
  EXPECT_EQ(candidates({"doctor", "--json", "--j"}), Typed{});
  EXPECT_EQ(candidates({"--v"}), Typed{"--version"});
  EXPECT_EQ(candidates({"help", "--m"}), Typed{"--markdown"});
}

TEST(Completion, OfValues) {
  EXPECT_EQ(candidates({"doctor", "--color", "a"}), (Typed{"auto", "always"}));
  EXPECT_EQ(candidates({"doctor", "--color=n"}), Typed{"--color=never"});
  EXPECT_EQ(candidates({"completion", "z"}), Typed{"zsh"});
  EXPECT_EQ(candidates({"completion", "zsh", ""}), Typed{});
}

TEST(Completion, OfHelpIsACommand) {
  EXPECT_EQ(candidates({"help", "job", "c"}), Typed{"check"});
}

TEST(Completion, FallsBackToFilesOnlyWhereFilesBelong) {
  EXPECT_TRUE(completed({"job", "check", ""}).files);
  EXPECT_TRUE(completed({"job", "check", "--color", "never", "ex"}).files);
  EXPECT_FALSE(completed({"job", "check", "a.yaml", ""}).files);
  EXPECT_FALSE(completed({"job", "check", "--"}).files);
  EXPECT_FALSE(completed({"doctor", ""}).files);
  EXPECT_TRUE(completed({"doctor", "--", ""}).files);
}

}  // namespace
}  // namespace outlast::cli
