#include "notice/notice_board.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"
#include "job/notice_plan.h"

namespace outlast::notice {
namespace {

using std::chrono::seconds;

MonoTime at(int second) {
  return MonoTime(seconds(second));
}

TEST(NoticeBoard, TheOneThatEndsFirstCounts) {
  int changes = 0;
  NoticeBoard board([&] { ++changes; });
  EXPECT_FALSE(board.current());
  board.post({.source = "lifetime", .ends = at(1000)});
  board.post({.source = "signal", .ends = at(30)});
  EXPECT_EQ(board.current()->source, "signal");
  EXPECT_EQ(changes, 2);
  board.post({.source = "file", .ends = at(500)});
  EXPECT_EQ(changes, 2) << "nothing that counts has changed";
  board.withdraw("signal");
  EXPECT_EQ(board.current()->source, "file");
  EXPECT_EQ(changes, 3);
  board.withdraw("signal");
  board.withdraw("nobody");
  EXPECT_EQ(changes, 3);
}

TEST(NoticeBoard, ASourceHasOneNotice) {
  int changes = 0;
  NoticeBoard board([&] { ++changes; });
  board.post({.source = "file", .ends = at(10), .why = "first"});
  board.post({.source = "file", .ends = at(20), .why = "second"});
  EXPECT_EQ(board.current()->ends, at(20));
  board.post({.source = "file", .ends = at(20), .why = "second"});
  EXPECT_EQ(changes, 2);
}

TEST(NoticeBoard, WhatIsOnlyPossibleIsAHint) {
  int changes = 0;
  NoticeBoard board([&] { ++changes; });
  board.post({.source = "a", .ends = at(10), .confidence = job::NoticeConfidence::kPossible});
  EXPECT_FALSE(board.current());
  EXPECT_EQ(board.hint()->source, "a");
  EXPECT_EQ(changes, 1);
  board.post({.source = "b", .ends = at(20)});
  EXPECT_EQ(board.current()->source, "b") << "a hint hides nothing";
  EXPECT_EQ(board.hint()->source, "a");
  board.withdraw("a");
  EXPECT_FALSE(board.hint());
  EXPECT_EQ(changes, 3);
}

TEST(NoticeBoard, KnowsWhereWeAre) {
  int changes = 0;
  NoticeBoard board([&] { ++changes; });
  EXPECT_FALSE(board.place());
  board.set_place({.cloud = "gcp", .zone = "us-central1-a"});
  board.set_place({.cloud = "gcp", .zone = "us-central1-a"});
  EXPECT_EQ(board.place()->zone, "us-central1-a");
  EXPECT_EQ(changes, 1);
}

TEST(NoticeBoard, WhoWantsUsGoneAtOnceComesFirstAndGivesNobodyMoreTime) {
  NoticeBoard board([] {});
  board.post({.source = "file", .ends = at(20)});
  board.post({.source = "signal", .ends = at(30), .at_once = true});
  EXPECT_EQ(board.current()->source, "signal");
  EXPECT_TRUE(board.current()->at_once);
  EXPECT_EQ(board.current()->ends, at(20));
  board.withdraw("file");
  EXPECT_EQ(board.current()->ends, at(30));
}

}  // namespace
}  // namespace outlast::notice
