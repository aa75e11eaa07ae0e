#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "base/json.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

Report sample() {
  Report report = {.job = "j", .command = "python3 train.py", .source = "gce", .planned = 3};
  report.undisturbed = Run{.seconds = 10, .outcome = "done"};
  report.disturbed = {.seconds = 12.5, .stored_bytes = 2048, .outcome = "done"};
  report.disturbed.lives = {
      {.number = 1,
       .training = 1,
       .injections = {{.trouble = Trouble::kNotice, .at = 4, .notice_to_committed = 0.25}},
       .first_step = 1,
       .last_step = 30,
       .outcome = "left",
       .lost_steps = 0,
       .lost_seconds = 0,
       .recovery = 1.5},
      {.number = 2,
       .training = 5,
       .injections = {{.trouble = Trouble::kMidSave, .at = 8}},
       .first_step = 31,
       .last_step = 60,
       .outcome = "gone",
       .lost_steps = 10,
       .lost_seconds = 1.25,
       .recovery = 2},
      {.number = 3, .first_step = 51, .last_step = 90, .outcome = "done"}};
  report.comparison = Comparison{.files = 2, .differences = {"last.pt differs"}};
  report.findings = {{.id = "order-shifts",
                      .sentence = "It goes another way.",
                      .advice = "Save the random generators.",
                      .evidence = {"from step 51 on"}}};
  report.expectations = {{.text = "resumed", .is_met = true, .found = "2 of 2 machines"},
                         {.text = "identical", .found = "1 of 2 files differ"}};
  return report;
}

TEST(ReportText, TellsALifeALineThenWhatWasFoundThenTheVerdict) {
  EXPECT_EQ(
      to_text(sample(), false),
      "python3 train.py\n"
      "  machine  what happened               steps     notice→committed  lost            "
      "back after\n"
      "  1        notice after 3s             1 to 30   250ms             0 steps, 0s     "
      "1.5s\n"
      "  2        killed in a save, after 3s  31 to 60  -                 10 steps, 1.3s  2s\n"
      "  3        until the job was done      51 to 90  -                 -               -\n"
      "\n"
      "Undisturbed it took 10s, on 3 machines 13s (+25 %); 2.0 KiB were stored.\n"
      "Of 3 troubles 2 came about: the job was done before.\n"
      "The result is another one:\n"
      "  last.pt differs\n"
      "\n"
      "order-shifts:\n"
      "  It goes another way.\n"
      "    from step 51 on\n"
      "  → Save the random generators.\n"
      "\n"
      "met      resumed: 2 of 2 machines\n"
      "NOT MET  identical: 1 of 2 files differ\n");
}

TEST(ReportText, InColourItIsTheSameText) {
  std::string text = to_text(sample(), true);
  EXPECT_NE(text, to_text(sample(), false));
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, to_text(sample(), false));
}

TEST(ReportText, WhatTrainersPrintDoesNotSteerTheTerminal) {
  Report report = sample();
  report.findings[0].evidence = {"\x1b[2Jgone\tor not"};
  EXPECT_NE(to_text(report, false).find("?[2Jgone?or not"), std::string::npos);
}

TEST(ReportJson, HasEverything) {
  const Json json = to_json(sample());
  EXPECT_EQ(json["disturbed"]["lives"].size(), 3U);
  EXPECT_EQ(json["disturbed"]["lives"][1]["injections"][0]["trouble"], "mid-save");
  EXPECT_EQ(json["overhead"], 0.25);
  EXPECT_EQ(json["comparison"]["identical"], false);
  EXPECT_TRUE(json["comparison"]["repeatable"].is_null());
  EXPECT_EQ(json["findings"][0]["id"], "order-shifts");
  EXPECT_EQ(json["passed"], false);
}

}  // namespace
}  // namespace outlast::drill
