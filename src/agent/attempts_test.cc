#include "agent/attempts.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/stream_writer.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using store::testing::in_simulation;

void put_text(store::ObjectStore& store, const std::string& key, const std::string& text) {
  ASSERT_TRUE(store.put(key, as_bytes(text), store::WriteIf::always(), {}));
}

std::string sentences(const Result<std::vector<AttemptEvent>>& events) {
  if (!events) return events.error().to_string();
  std::string text;
  for (const AttemptEvent& one : *events) {
    text += std::to_string(one.epoch) + ":" + one.event.sentence + " ";
  }
  return text;
}

TEST(Attempts, AreListedByTheirFoldersAlone) {
  in_simulation(1, [](sys::World& world) {
    store::MemoryBucket bucket;
    store::MemoryStore store(bucket, world.clock);
    EXPECT_TRUE(list_attempts(store, {}).value().empty());
    put_text(store, attempt_key(3), encode_attempt({.epoch = 3}));
    put_text(store, printed_prefix(12) + segment_name(1), "x");
    put_text(store, "attempts/notes/x", "not ours");
    EXPECT_EQ(list_attempts(store, {}).value(), (std::vector<job::Epoch>{3, 12}));
    EXPECT_EQ(read_attempt(store, 3, {}).value_or(AttemptRecord()).epoch, 3U);
    EXPECT_EQ(read_attempt(store, 12, {}).error().code(), ErrorCode::kNotFound);
    put_text(store, attempt_key(3), "{");
    const auto damaged = read_attempt(store, 3, {});
    EXPECT_EQ(damaged.error().code(), ErrorCode::kCorrupt);
    EXPECT_NE(damaged.error().to_string().find(attempt_key(3)), std::string::npos);
  });
}

TEST(Attempts, TheLastEventsAreFoundWhereverTheStreamsAreCut) {
  in_simulation(1, [](sys::World& world) {
    store::MemoryBucket bucket;
    store::MemoryStore store(bucket, world.clock);
    std::string text;
    for (const char* sentence : {"a", "b", "c", "d"}) {
      text += encode_event({.kind = "x", .sentence = sentence});
    }
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}, text.size()}) {
      const job::Epoch epoch = 10 + bytes;
      for (std::size_t at = 0, number = 1; at < text.size(); at += bytes, ++number) {
        put_text(store, events_prefix(epoch) + segment_name(number), text.substr(at, bytes));
      }
      put_text(store, events_prefix(2) + segment_name(1),
               encode_event({.kind = "x", .sentence = "old"}) + "nonsense\n" +
                   encode_event({.kind = "x", .sentence = "older"}) + "{\"cut");
      const auto last = [&](std::size_t count) {
        return sentences(last_events(store, {2, epoch}, count, {}));
      };
      const std::string tag = std::to_string(epoch) + ":";
      EXPECT_EQ(last(2), tag + "c " + tag + "d ");
      EXPECT_EQ(last(5), "2:older " + tag + "a " + tag + "b " + tag + "c " + tag + "d ");
      EXPECT_EQ(last(0), "");
    }
  });
}

TEST(Attempts, LinesAreTakenWhenTheyAreComplete) {
  std::string text = "a\n\nb";
  EXPECT_EQ(take_lines(text), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(text, "b");
  EXPECT_TRUE(take_lines(text).empty());
  text += "c\n";
  EXPECT_EQ(take_lines(text), (std::vector<std::string>{"bc"}));
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace outlast::agent
