#include "agent/root_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "job/log_entry.h"

namespace outlast::agent {
namespace {

TEST(RootLayout, TheOrderOfTheNamesIsThatOfTheAttempts) {
  EXPECT_EQ(attempt_folder(12), "attempts/00000012/");
  EXPECT_LT(attempt_folder(9), attempt_folder(10));
  EXPECT_EQ(attempt_key(12), "attempts/00000012/attempt.json");
  EXPECT_EQ(events_prefix(12), "attempts/00000012/events/");
  EXPECT_EQ(printed_prefix(12), "attempts/00000012/printed/");
  EXPECT_EQ(beat_key("j1"), "beats/j1");
}

TEST(RootLayout, AFolderIsReadBackAndNothingElseIs) {
  for (const job::Epoch epoch : {1U, 12U, 99'999'999U, 123'456'789U}) {
    EXPECT_EQ(parse_attempt_folder(attempt_folder(epoch)).value_or(0), epoch);
  }
  for (const std::string folder :
       {"", "attempts/", "attempts//", "attempts/00000012", "attempts/12/", "attempts/000000012/",
        "attempts/0000001x/", "attempts/00000000/", "attempts/00000012/events/", "other/00000012/",
        "attempts/-0000012/", "attempts/99999999999999999999999/"}) {
    const Result<job::Epoch> epoch = parse_attempt_folder(folder);
    ASSERT_FALSE(epoch) << folder;
    EXPECT_EQ(epoch.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace outlast::agent
