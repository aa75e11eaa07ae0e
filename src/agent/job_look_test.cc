#include "agent/job_look.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/root_layout.h"
#include "base/encoding.h"
#include "job/log_entry.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using store::testing::in_simulation;

TEST(JobLook, TheLogIsTheTruthAboutEndings) {
  const Beat training = {.state = AgentState::kTraining};
  const Beat done = {.state = AgentState::kEnded, .outcome = AttemptOutcome::kDone};
  const Beat left = {.state = AgentState::kEnded, .outcome = AttemptOutcome::kLeft};
  const job::LogEntry cancelled = {.kind = job::EntryKind::kCancelled};
  EXPECT_EQ(judge({.beat = training}), JobState::kTraining);
  EXPECT_EQ(judge({.beat = training, .beat_age = kBeatStale}), JobState::kVanished);
  EXPECT_EQ(judge({.beat = training, .log_was_read = true, .ending = cancelled}),
            JobState::kCancelled);
  // A beat is believed until the log was read: the job may have been resumed since.
  EXPECT_EQ(judge({.beat = done}), JobState::kDone);
  EXPECT_EQ(judge({.beat = done, .beat_age = kBeatStale}), JobState::kDone);
  EXPECT_EQ(judge({.beat = done, .log_was_read = true}), JobState::kLeft);
  EXPECT_EQ(judge({.beat = left, .beat_age = kBeatStale}), JobState::kLeft);
  EXPECT_EQ(judge({}), JobState::kOnlyCheckpoints);
  EXPECT_EQ(judge({.unreadable = "damage"}), JobState::kUnknown);
  EXPECT_EQ(judge({.ending = cancelled, .unreadable = "damage"}), JobState::kCancelled);
}

TEST(JobLook, AThousandLiveJobsCostARequestEach) {
  in_simulation(1, [](sys::World& world) {
    constexpr int kJobs = 1000;
    store::MemoryBucket bucket;
    store::MemoryStore server(bucket, world.clock);
    for (int i = 0; i < kJobs; ++i) {
      const std::string job = "j" + std::to_string(i);
      const std::string text = encode_beat({.epoch = 1, .state = AgentState::kTraining});
      ASSERT_TRUE(server.put(beat_key(job), as_bytes(text), {}, {}));
      ASSERT_TRUE(server.put("jobs/" + job + "/spec.json", as_bytes("{}"), {}, {}));
    }
    store::MeteredStore metered(server);
    const auto looks = look_at_jobs(
        {.root = metered, .threads = world.threads, .clock = world.clock, .random = world.random},
        {});
    ASSERT_TRUE(looks) << looks.error().to_string();
    ASSERT_EQ(looks->size(), static_cast<std::size_t>(kJobs));
    for (const JobLook& look : *looks) EXPECT_EQ(judge(look), JobState::kTraining) << look.job;
    EXPECT_LE(metered.usage().class_a(), 4U) << "listings";
    EXPECT_LE(metered.usage().class_b(), kJobs + 1U) << "reads";
  });
}

}  // namespace
}  // namespace outlast::agent
