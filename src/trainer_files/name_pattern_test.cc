#include "trainer_files/name_pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace outlast::trainer_files {
namespace {
namespace name_pattern_test {

TEST(NamePattern, AWholeNameIsMatched) {
  EXPECT_TRUE(match_name("ckpt.pt", "ckpt.pt"));
  EXPECT_FALSE(match_name("ckpt.pt", "ckpt.pt2"));
  EXPECT_FALSE(match_name("ckpt.pt", "a ckpt.pt"));
  EXPECT_FALSE(match_name("ckpt.pt", ""));
  EXPECT_TRUE(match_name("*.pt", ".pt"));
  EXPECT_FALSE(match_name("{*}.pt", ".pt"));
  EXPECT_FALSE(match_name("{*}.pt", "a.b.pt"));
  EXPECT_FALSE(match_name("*.pt", "folder/a.pt"));
}

TEST(NamePattern, NumbersAreTakenFromTheirPlace) {
  EXPECT_EQ(match_name("checkpoint-{step}", "checkpoint-0500"), (NameFacts{.step = 500}));
  EXPECT_EQ(match_name("checkpoint_{epoch}.pth", "checkpoint_7.pth"), (NameFacts{.epoch = 7}));
  EXPECT_EQ(match_name("Models.{epoch}-{val_loss}", "Models.05-0.1234"),
            (NameFacts{.epoch = 5, .metrics = {{"val_loss", 0.1234}}}));
  EXPECT_EQ(match_name("*{epoch}-{metric}.keras", "weights.05--1.5e-3.keras"),
            (NameFacts{.epoch = 5, .metrics = {{"metric", -0.0015}}}));
  EXPECT_EQ(match_name("last-v{}.ckpt", "last-v12.ckpt"), NameFacts());
  EXPECT_FALSE(match_name("checkpoint-{step}", "checkpoint-"));
  EXPECT_FALSE(match_name("checkpoint-{step}", "checkpoint-5a"));
  EXPECT_FALSE(match_name("checkpoint-{step}", "checkpoint-99999999999999999999"));
}

TEST(NamePattern, PairsInANameAreFacts) {
  EXPECT_EQ(facts_in_name("model-epoch=03-val_loss=0.12.ckpt"),
            (NameFacts{.epoch = 3, .metrics = {{"val_loss", 0.12}}}));
  EXPECT_EQ(facts_in_name("epoch=9-step=12000.ckpt"), (NameFacts{.step = 12000, .epoch = 9}));
  EXPECT_EQ(facts_in_name("a=b=.ckpt"), NameFacts());
}

TEST(NamePattern, TheFartherOfTwoFactsIsKept) {
  NameFacts facts{.step = 5, .metrics = {{"loss", 1}}};
  merge_facts({.step = 9, .epoch = 2, .metrics = {{"loss", 2}, {"accuracy", 3}}}, facts);
  EXPECT_EQ(facts, (NameFacts{.step = 9, .epoch = 2, .metrics = {{"loss", 1}, {"accuracy", 3}}}));
}

TEST(NamePattern, NamesOfUnfinishedThings) {
  for (const std::string_view name :
       {"tmp.pth.tar", "recovery_tmp.pth.tar", "tmpx8s_2", "ckpt.pt.tmp", "a.tmp.npz", "model.part",
        "weights.incomplete", ".~ckpt.pt", ".metadata.tmp", "5.orbax-checkpoint-tmp-1700000000",
        "ckpt-1_temp"}) {
    EXPECT_TRUE(is_temporary_name(name)) << name;
  }
  for (const std::string_view name :
       {"ckpt.pt", "attempt.pt", "last.ckpt", ".metadata", "parts.pt"}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

RC_GTEST_PROP(NamePattern, WhatIsWrittenIntoAPatternIsReadBack, (std::uint64_t step)) {
  const std::string text = std::to_string(step);
  for (const std::string pattern : {"checkpoint-{step}", "*_{step}.pt", "{step}", "*x{step}*"}) {
    std::string name = pattern;
    for (const std::string hole : {"{step}", "*", "*"}) {
      const std::size_t at = name.find(hole);
      if (at != std::string::npos) name.replace(at, hole.size(), hole == "*" ? "any" : text);
    }
    const auto facts = match_name(pattern, name);
    RC_ASSERT(facts.has_value());
    RC_ASSERT(facts->step == step);
  }
}

RC_GTEST_PROP(NamePattern, ManyPatternsAtOnceAreTheSamePatterns, ()) {
  const std::vector<std::string_view> patterns = {"*.pt", "a*", "{step}", "*t", "*", "b.pt"};
  const std::string name =
      *rc::gen::container<std::string>(rc::gen::elementOf<std::string>("ab1.pt"));
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (match_name(patterns[i], name)) expected.push_back(i);
  }
  const NamePatterns all(patterns);
  RC_ASSERT(all.all_matches(name) == expected);
  const auto first = all.first_match(name);
  RC_ASSERT(first.has_value());
  RC_ASSERT(first->index == expected.front());
  RC_ASSERT(first->facts == match_name(patterns[first->index], name));
}

RC_GTEST_PROP(NamePattern, AnyNameGetsAnAnswer, (const std::string& name)) {
  for (const std::string_view pattern : {"*{epoch}-{metric}.*", "*", "*{step}*", "{*}.{*}"}) {
    const auto facts = match_name(pattern, name);
    if (name.empty()) RC_ASSERT(facts.has_value() == (pattern == "*"));
  }
  facts_in_name(name);
  is_temporary_name(name);
}

}  // namespace name_pattern_test
}  // namespace
}  // namespace outlast::trainer_files
