#include "drill/life_record.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drill/agent_lines.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

// What a life's standard error makes of it; a line a second.
LifeRecord record_of(const std::vector<std::string>& lines, std::string* other = nullptr) {
  LifeRecord record;
  record.life.injections = {{.at = 2}};
  double now = 0;
  AgentLines reader;
  reader.event = [&](const AgentEvent& event) { take_event(event, now, record); };
  reader.other = [&](std::string_view text) {
    if (other != nullptr) *other += text;
  };
  for (const std::string& line : lines) {
    now += 1;
    // In two pieces: that is how pipes bring them.
    reader.feed(std::string_view(line).substr(0, line.size() / 2));
    reader.feed(std::string_view(line).substr(line.size() / 2));
  }
  reader.finish();
  return record;
}

std::string event(std::string_view kind, std::string_view facts = "", std::string_view text = "x") {
  return "{\"event\":\"" + std::string(kind) + "\",\"level\":\"note\",\"text\":\"" +
         std::string(text) + "\",\"time\":\"2026-11-17T12:00:10.000Z\"" + std::string(facts) +
         "}\n";
}

TEST(LifeRecord, IsMadeOfTheAgentsEvents) {
  const LifeRecord record = record_of(
      {event("resumed", R"(,"checkpoint":7,"step":40,"bytes":100,"fetched_bytes":60)"),
       event("notice"), event("asked", R"(,"signal":"SIGTERM","for":"leave")"),
       event("saved",
             R"(,"checkpoint":8,"bytes":100,"stored_bytes":50,"seconds":0.5,"why":"notice",)"
             R"("written":"2026-11-17T12:00:09.000Z")"),
       event("trainer-ended", R"(,"exit":"exit code 75","meaning":"left")"), event("left")});
  EXPECT_EQ(record.life.training, 1);
  const Life::Restored restored = record.life.restored.value_or(Life::Restored{});
  EXPECT_EQ(restored.checkpoint, 7U);
  EXPECT_EQ(restored.fetched_bytes, 60U);
  EXPECT_EQ(record.life.injections[0].heard, 2);
  EXPECT_EQ(record.life.injections[0].asked, 3);
  EXPECT_EQ(record.life.injections[0].committed, 4);
  EXPECT_EQ(record.asked_to_leave, 3);
  ASSERT_EQ(record.life.saves.size(), 1U);
  EXPECT_EQ(record.life.saves[0].written, 3);  // a second before the event
  EXPECT_EQ(record.life.outcome, "left");
  EXPECT_FALSE(record.has_trainer_failed);
}

TEST(LifeRecord, AnEventMayStandBehindABarThatHasNoEnd) {
  std::string other;
  const LifeRecord record =
      record_of({"\r 10%|#  | 1/10" + event("began"), "{\"event\": 1}\n", "not {\"a\":\n"}, &other);
  EXPECT_TRUE(record.life.training);
  EXPECT_EQ(other, "\r 10%|#  | 1/10{\"event\": 1}\nnot {\"a\":\n");
}

TEST(LifeRecord, WhatIsMissingIsNoTrouble) {
  const LifeRecord record = record_of({event("saved"), event("asked", R"(,"for":"leave")"),
                                       event("trainer-ended"), event("no-such-thing")});
  EXPECT_EQ(record.life.saves.size(), 1U);
  EXPECT_EQ(record.asked_to_leave, 2);
  EXPECT_TRUE(record.has_trainer_failed);
}

std::vector<StepSample> printed(std::uint64_t first, std::uint64_t last, double from) {
  std::vector<StepSample> samples;
  for (std::uint64_t step = first; step <= last; ++step) {
    samples.push_back({.at = from + static_cast<double>(step - first), .step = step});
  }
  return samples;
}

TEST(Measure, LossesAreWhatTheNextLifeDidAgain) {
  std::vector<LifeRecord> records(3);
  records[0].life = {.number = 1, .training = 1, .ended = 10, .outcome = "gone"};
  records[0].life.saves = {{.at = 6, .checkpoint = 2, .stored_bytes = 5, .written = 5.5}};
  records[0].samples = printed(1, 9, 1);
  records[1].life = {.number = 2, .began = 10, .training = 11, .ended = 20, .outcome = "left"};
  records[1].life.restored = Life::Restored{.checkpoint = 2};
  records[1].life.injections = {{.at = 18, .committed = 19}};
  records[1].life.saves = {{.at = 19, .checkpoint = 4, .stored_bytes = 6, .written = 18.5}};
  records[1].asked_to_leave = 18.2;
  records[1].trainer_ended = 19.5;
  records[1].samples = printed(6, 12, 12);
  records[2].life = {.number = 3, .began = 20, .training = 21, .ended = 30, .outcome = "done"};
  records[2].life.restored = Life::Restored{.checkpoint = 4};
  records[2].samples = printed(13, 20, 22);
  const drill::Run run = measure(records, find_scale(std::vector{&records[0].samples}));
  EXPECT_EQ(run.lives[0].lost_steps, 4U);  // 6, 7, 8 and 9
  EXPECT_EQ(run.lives[0].lost_seconds, 4.5);
  EXPECT_EQ(run.lives[0].recovery, 2);  // from its end at 10 to the step at 12
  EXPECT_EQ(run.lives[1].lost_steps, 0U);
  EXPECT_EQ(run.lives[1].lost_seconds, 0);
  EXPECT_EQ(run.lives[1].injections[0].notice_to_committed, 1);
  EXPECT_FALSE(run.lives[2].lost_steps);
  EXPECT_EQ(run.lives[2].first_step, 13U);
  EXPECT_EQ(run.stored_bytes, 11U);
  EXPECT_EQ(run.seconds, 30);
  EXPECT_EQ(run.outcome, "done");
}

}  // namespace
}  // namespace outlast::drill
