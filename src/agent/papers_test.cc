#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"
#include "job/progress_reader.h"
#include "job/retry_budget.h"

namespace outlast::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using EndKind = job::AttemptEnd::Kind;

WallTime at(std::string_view text) {
  return parse_rfc3339(text).value_or(WallTime());
}

AttemptRecord some_record() {
  return {.epoch = 3,
          .agent = {.host = "gpu-1", .machine = "b00t", .pid = 4711},
          .version = "0.1.0",
          .began = at("2026-11-16T13:40:00.125Z"),
          .command = "python train.py --note 'a \"b\"'",
          .folder = "/work",
          .place = {{.cloud = "gcp",
                     .zone = "us-central1-a",
                     .machine = "n2-standard-8",
                     .spot = true,
                     .tags = {{"team", "vision"}}}},
          .restored = {{.seq = 7, .step = 400, .bytes = 1'000}},
          .ends = {{.kind = EndKind::kPreempted, .step = 410, .checkpoint = 7},
                   {.kind = EndKind::kLeft, .checkpoint = 7, .checkpoint_step = 400},
                   {.kind = EndKind::kFailed, .death = "SIGSEGV", .step = 420, .checkpoint = 7}},
          .ended = {{.time = at("2026-11-16T14:00:00Z"),
                     .outcome = AttemptOutcome::kTakenOver,
                     .why = "another attempt has begun"}}};
}

Beat some_beat() {
  return {.epoch = 3,
          .agent = {.host = "gpu-1", .machine = "b00t", .pid = 4711},
          .time = at("2026-11-16T13:40:00.125Z"),
          .state = AgentState::kEnded,
          .outcome = AttemptOutcome::kLeft,
          .progress = {.step = 420,
                       .total = 1'000,
                       .epoch = 1.5,
                       .epochs = 3,
                       .rate = 2.25,
                       .metrics = {{"loss", 0.1}, {"accuracy", 0.9}},
                       .not_finite = {"grad"}},
          .committed = {{.seq = 9, .step = 400, .time = at("2026-11-16T13:39:00Z"), .bytes = 10}},
          .lag = milliseconds(12'345),
          .next_save = "in 4m12s: every 5m",
          .margin = -seconds(3),
          .notice = {{.source = "gce", .ends = at("2026-11-16T13:41:00Z"), .why = "preempted"}},
          .trouble = "the store is away"};
}

TEST(Papers, AreReadBackAsTheyWereWritten) {
  EXPECT_EQ(decode_attempt(encode_attempt(some_record())).value_or(AttemptRecord()), some_record());
  const AttemptRecord empty = {.epoch = 1};
  EXPECT_EQ(decode_attempt(encode_attempt(empty)).value_or(AttemptRecord()), empty);
  EXPECT_EQ(decode_beat(encode_beat(some_beat())).value_or(Beat()), some_beat());
  const Beat bare = {.epoch = 1};
  EXPECT_EQ(decode_beat(encode_beat(bare)).value_or(Beat()), bare);
  for (const AttemptOutcome outcome :
       {AttemptOutcome::kDone, AttemptOutcome::kFailed, AttemptOutcome::kLeft,
        AttemptOutcome::kCancelled, AttemptOutcome::kTakenOver, AttemptOutcome::kBroken}) {
    const Beat beat = {.epoch = 1, .state = AgentState::kEnded, .outcome = outcome};
    EXPECT_EQ(decode_beat(encode_beat(beat)).value_or(Beat()), beat) << to_string(outcome);
  }
  for (const AgentState state :
       {AgentState::kStarting, AgentState::kRestoring, AgentState::kTraining, AgentState::kWaiting,
        AgentState::kLeaving}) {
    const Beat beat = {.epoch = 1, .state = state};
    EXPECT_EQ(decode_beat(encode_beat(beat)).value_or(Beat()), beat) << to_string(state);
  }
}

TEST(Papers, OfManyEndsTheNewestAreKept) {
  AttemptRecord record = {.epoch = 1};
  for (std::size_t i = 0; i < kEndsMax + 5; ++i) record.ends.push_back({.checkpoint = i});
  const auto read = decode_attempt(encode_attempt(record)).value_or(AttemptRecord());
  ASSERT_EQ(read.ends.size(), kEndsMax);
  EXPECT_EQ(read.ends.front().checkpoint, 5U);
  EXPECT_EQ(read.ends.back(), record.ends.back());
}

TEST(Papers, WhatIsNoNumberNeverBreaksTheText) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const Beat beat = {.progress = {.epoch = nan,
                                  .epochs = infinite,
                                  .rate = -infinite,
                                  .metrics = {{"loss", nan}, {"norm", infinite}, {"lr", 0.5}},
                                  .not_finite = {"loss"}}};
  const auto read = decode_beat(encode_beat(beat));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->progress,
            (job::Progress{.metrics = {{"lr", 0.5}}, .not_finite = {"loss", "norm"}}));
}

TEST(Papers, BytesThatAreNotUtf8AreMadeSo) {
  AttemptRecord record = some_record();
  record.command = "cat \xff";
  const std::string text = encode_attempt(record);
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(decode_attempt(text).value_or(AttemptRecord()).command, "cat \xEF\xBF\xBD");
  // Two names that become one.
  Beat beat = some_beat();
  beat.progress.metrics = {{"a\xff", 1}, {"a\xfe", 2}};
  beat.progress.not_finite = {"b\xff", "b\xfe"};
  const auto read = decode_beat(encode_beat(beat));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->progress.metrics.size(), 1U);
  EXPECT_EQ(read->progress.not_finite.size(), 1U);
  const std::string line =
      encode_event({.sentence = "\xff", .facts = {{"x\xff", 1}, {"x\xfe", {{"y\xff", 2}}}}});
  EXPECT_TRUE(is_utf8(line));
  EXPECT_TRUE(decode_event(line));
}

TEST(Papers, ATimeThatNobodyCanReadBecomesOneThatCanBe) {
  for (const WallTime time : {WallTime::min(), WallTime::max()}) {
    EXPECT_TRUE(decode_beat(encode_beat({.time = time})));
    EXPECT_TRUE(decode_event(encode_event({.time = time})));
  }
}

// Every byte that is lost or changed either is noticed or gives a value: never anything worse.
template <typename Decode>
void damage_everywhere(const std::string& text, const Decode& decode) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode(text.substr(0, i))) << "cut at " << i;
    for (const char other : {'\0', '"', '9', '{', '\xff'}) {
      std::string changed = text;
      changed[i] = other;
      const auto read = decode(changed);
      if (!read) {
        EXPECT_TRUE(read.error().code() == ErrorCode::kCorrupt ||
                    read.error().code() == ErrorCode::kInvalidArgument)
            << read.error().to_string();
      }
    }
  }
}

TEST(Papers, DamageIsAnErrorOfItsKind) {
  damage_everywhere(encode_attempt(some_record()), decode_attempt);
  damage_everywhere(encode_beat(some_beat()), decode_beat);
  for (const std::string_view text :
       {"", "null", "[]", "{}", "{\"format\":1}", "{\"format\":-1}"}) {
    EXPECT_EQ(decode_attempt(text).error().code(), ErrorCode::kCorrupt) << text;
    EXPECT_EQ(decode_beat(text).error().code(), ErrorCode::kCorrupt) << text;
    EXPECT_EQ(decode_event(text).error().code(), ErrorCode::kCorrupt) << text;
  }
  const std::string large(kAttemptBytesMax + 1, ' ');
  EXPECT_EQ(decode_attempt(large).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(decode_beat(large).error().code(), ErrorCode::kCorrupt);
}

TEST(Papers, OddValuesAreNamed) {
  Json beat = parse_json(encode_beat(some_beat())).value_or(Json());
  const auto with = [&](const char* key, const Json& value) {
    Json changed = beat;
    changed[key] = value;
    const auto read = decode_beat(canonical_json(changed));
    return read ? "read" : read.error().to_string();
  };
  EXPECT_EQ(with("state", "asleep"), "the beat cannot be read: 'state' cannot be 'asleep'");
  EXPECT_EQ(with("lag", 1e300),
            "the beat cannot be read: 'lag' is no number of seconds that can be");
  EXPECT_EQ(with("committed", 3), "the beat cannot be read: 'committed' must be an object");
  EXPECT_EQ(with("time", "noon"),
            "the beat cannot be read: 'time': 'noon' is not a time such as 2026-11-15T08:30:00Z");
}

TEST(Papers, OfANewerFormatNameBothVersions) {
  for (const bool is_beat : {false, true}) {
    Json json = parse_json(is_beat ? encode_beat(some_beat()) : encode_attempt(some_record()))
                    .value_or(Json());
    json["format"] = 2;
    const std::string text = canonical_json(json);
    const Error error = is_beat ? decode_beat(text).error() : decode_attempt(text).error();
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.to_string(),
              std::string(is_beat ? "the beat" : "the record of the attempt") +
                  " is of format 2 and this outlast knows formats up to 1; use a newer outlast "
                  "for this job");
  }
}

TEST(Papers, FieldsThatAreNotKnownAreIgnored) {
  Json attempt = parse_json(encode_attempt(some_record())).value_or(Json());
  attempt["later"] = {{"x", 1}};
  attempt["ended"]["later"] = 2;
  EXPECT_EQ(decode_attempt(canonical_json(attempt)).value_or(AttemptRecord()), some_record());
  Json beat = parse_json(encode_beat(some_beat())).value_or(Json());
  beat["later"] = Json::array({1, 2});
  beat["progress"]["later"] = "x";
  EXPECT_EQ(decode_beat(canonical_json(beat)).value_or(Beat()), some_beat());
}

TEST(Events, AreOneLineAndReadBack) {
  const Event event = {.time = at("2026-11-16T13:40:00.125Z"),
                       .level = EventLevel::kGood,
                       .kind = "resumed",
                       .sentence = "resumed at step 400\nafter 12 s",
                       .facts = {{"step", 400}, {"seconds", 12.5}, {"why", {{"notice", true}}}}};
  const std::string line = encode_event(event);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = decode_event(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->time, event.time);
  EXPECT_EQ(read->level, event.level);
  EXPECT_EQ(read->kind, event.kind);
  EXPECT_EQ(read->sentence, event.sentence);
  EXPECT_EQ(read->facts, event.facts);
  const auto bare = decode_event(encode_event({.kind = "x"}));
  EXPECT_TRUE(bare.value_or(Event()).facts.is_null());
}

TEST(Events, AFactWithOneOfOurNamesGetsAnother) {
  const std::string line = encode_event({.kind = "x", .facts = {{"time", 1}, {"time_", 2}}});
  const auto read = decode_event(line);
  ASSERT_TRUE(read) << line;
  EXPECT_EQ(read->facts, (Json{{"time_", 1}, {"time__", 2}}));
}

TEST(Events, ALevelThatIsNotKnownIsANote) {
  const auto read =
      decode_event(R"({"event":"x","level":"dire","text":"y","time":"2026-11-16T13:40:00.125Z"})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->level, EventLevel::kNote);
}

}  // namespace
}  // namespace outlast::agent
