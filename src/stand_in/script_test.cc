#include "stand_in/script.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "stand_in/happening.h"
#include "stand_in/metadata_stand_in.h"

namespace outlast::stand_in {
namespace {

using std::chrono::seconds;

TEST(Script, LinesAreTimesAndWhatHappensThen) {
  const auto script = parse_script(
      "# a bad day\n"
      "\n"
      "  10s preempt 30s   # soon\r\n"
      "25s\twithdraw\n"
      "25s fail 503 on /latest/api once for 5s\n"
      "1m30s scheduled instance-stop 30m",
      "ec2");
  ASSERT_TRUE(script) << script.error().to_string();
  ASSERT_EQ(script->size(), 4U);
  std::vector<std::string> read;
  for (const ScriptLine& line : *script) {
    read.push_back(format_duration(line.at) + " " + format_happening(line.happening, "ec2"));
  }
  const std::vector<std::string> expected = {"10s preempt 30s", "25s withdraw",
                                             "25s fail 503 on /latest/api once for 5s",
                                             "1m30s scheduled instance-stop 30m"};
  EXPECT_EQ(read, expected);
}

TEST(Script, NothingIsAScriptToo) {
  for (const char* text : {"", "\n\n", "# nothing"}) {
    const auto script = parse_script(text, "gce");
    ASSERT_TRUE(script);
    EXPECT_TRUE(script->empty());
  }
}

TEST(Script, EveryHappeningOfEveryCloudCanBeWrittenAndReadAgain) {
  for (const std::string& cloud : stand_in_names()) {
    for (const HappeningRow& row : happenings_of(cloud)) {
      std::string text(row.word);
      if (!row.choices.empty()) text += " " + std::string(row.choices.front());
      if (row.takes_status) text += " 503";
      if (row.takes_time && !row.time) text += " 90s";
      const auto happening = parse_happening(text, cloud);
      ASSERT_TRUE(happening) << text << ": " << happening.error().to_string();
      const std::string again = format_happening(*happening, cloud);
      const auto read = parse_happening(again, cloud);
      ASSERT_TRUE(read) << again;
      EXPECT_EQ(format_happening(*read, cloud), again);
    }
  }
}

TEST(Script, AMistakeIsOneSentenceThatNamesTheLine) {
  struct Case {
    std::string text;
    std::string sentence;
  };
  const std::vector<Case> cases = {
      {"preempt", "line 1: a line begins with a time such as 10s, not with 'preempt'"},
      {"\n10 preempt", "line 2: a line begins with a time such as 10s, not with '10'"},
      {"10s", "line 1: what is to happen then? For one: 10s preempt 30s"},
      {"10s premept",
       "line 1: 'premept' is nothing that can happen to gce; did you mean 'preempt'?"},
      {"10s xyzzy",
       "line 1: 'xyzzy' is nothing that can happen to gce; there are preempt, maintenance, junk, "
       "withdraw, fail, html, half, hang, slow, well, ahead, behind"},
      {"10s preempt soon", "line 1: after 'preempt' stands a time such as 30s, not 'soon'"},
      {"10s preempt 30s 40s", "line 1: '40s' is too much; it is written 'preempt [TIME]'"},
      {"10s preempt for 5s", "line 1: 'for' is only for faults, which 'preempt' is not"},
      {"10s fail", "line 1: after 'fail' stands a status from 200 to 599, not ''"},
      {"10s fail 100", "line 1: after 'fail' stands a status from 200 to 599, not '100'"},
      {"10s hang for", "line 1: after 'for' stands a time such as 5s, not ''"},
      {"10s hang on latest", "line 1: after 'on' stands a path such as /latest, not 'latest'"},
      {"10s slow", "line 1: after 'slow' stands a time such as 30s, not ''"},
      {"10s maintenance LATER",
       "line 1: after 'maintenance' stands one of NONE, MIGRATE_ON_HOST_MAINTENANCE, "
       "TERMINATE_ON_HOST_MAINTENANCE, not 'LATER'"},
      {"10s preempt\n5s withdraw",
       "line 2: 5s comes before 10s, which stands above: put the lines in order of time"},
      {"10s \x1b[2J", "line 1: it is too long, or no plain text; is this a script?"},
      {std::string(1000, 'x'), "line 1: it is too long, or no plain text; is this a script?"}};
  for (const Case& one : cases) {
    const auto script = parse_script(one.text, "gce");
    ASSERT_FALSE(script) << one.text;
    EXPECT_EQ(script.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(script.error().to_string(), one.sentence);
  }
}

TEST(Script, WhatOneCloudKnowsAnotherDoesNot) {
  EXPECT_TRUE(parse_script("0s rebalance", "ec2"));
  EXPECT_FALSE(parse_script("0s rebalance", "azure"));
  EXPECT_FALSE(parse_script("0s past", "gce"));
}

}  // namespace
}  // namespace outlast::stand_in
