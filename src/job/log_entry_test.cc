#include "job/log_entry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "job/testing/files.h"
#include "job/testing/fuzz_commit_entry.h"
#include "job/testing/sample_entries.h"

namespace outlast::job {
namespace {
namespace log_entry_test {

using testing::all_entry_kinds;
using testing::sample_entry;

std::string sum_again(Json json) {
  json.erase("sum");
  json["sum"] = sha256(as_bytes(canonical_json(json))).hex().substr(0, 32);
  return canonical_json(json);
}

// The text of a sample after `change`, with a checksum that fits.
std::string changed(EntryKind kind, const std::function<void(Json&)>& change) {
  Json json = *parse_json(encode_entry(sample_entry(kind)));
  change(json);
  return sum_again(json);
}

std::string complaint(const Result<LogEntry>& entry) {
  return entry ? "(read)" : entry.error().to_string();
}

void expect_refused(const std::string& text, std::string_view why) {
  const auto entry = decode_entry(text, 17);
  ASSERT_FALSE(entry) << text;
  EXPECT_EQ(entry.error().code(), ErrorCode::kCorrupt) << entry.error().to_string();
  EXPECT_NE(entry.error().to_string().find(why), std::string::npos) << entry.error().to_string();
}

TEST(LogEntryText, IsReadBackEqual) {
  for (const EntryKind kind : all_entry_kinds()) {
    const LogEntry entry = sample_entry(kind);
    const auto read = decode_entry(encode_entry(entry), 17);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, entry) << to_string(kind);
    EXPECT_EQ(parse_entry_kind(to_string(kind)).value_or(EntryKind::kFailed), kind);
  }
}

// The format is a promise: this text is read for ever.
TEST(LogEntryText, IsThatOfEveryOtherVersion) {
  EXPECT_EQ(
      encode_entry(sample_entry(EntryKind::kFence)),
      R"({"epoch":3,"floor":3,"format":1,"kind":"fence","nonce":"0123456789abcdefghjkmnpqrs","seq":17,)"
      R"("sum":"beeadd94daebe93bb13dbe7533c48b75","time":"2026-10-14T17:46:40.123Z",)"
      R"("why":"interval","writer":"node-7/4711"})");
}

TEST(LogEntryText, EveryChangedByteIsNoticed) {
  for (const EntryKind kind : {EntryKind::kCheckpoint, EntryKind::kPrune, EntryKind::kPin}) {
    std::string text = encode_entry(sample_entry(kind));
    for (char& byte : text) {
      const char right = byte;
      for (int value = 0; value < 256; ++value) {
        byte = static_cast<char>(value);
        if (byte == right) continue;
        const auto entry = decode_entry(text, 17);
        ASSERT_FALSE(entry) << text;
        ASSERT_EQ(entry.error().code(), ErrorCode::kCorrupt);
      }
      byte = right;
    }
  }
}

TEST(LogEntryText, WhatIsCutOrLongerIsNoticed) {
  const std::string text = encode_entry(sample_entry(EntryKind::kCheckpoint));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(decode_entry(text.substr(0, length), 17));
  }
  for (int value = 0; value < 256; ++value) {
    EXPECT_FALSE(decode_entry(text + static_cast<char>(value), 17));
  }
  EXPECT_FALSE(decode_entry(text + text, 17));
}

TEST(LogEntryText, OfAnotherPlaceIsRefused) {
  const std::string text = encode_entry(sample_entry(EntryKind::kFence));
  EXPECT_EQ(complaint(decode_entry(text, 18)),
            "entry 18 of the commit log cannot be read: it is entry 17");
}

TEST(LogEntryText, OfANewerFormatSaysWhichIsKnown) {
  const std::string text = changed(EntryKind::kFence, [](Json& json) {
    json["format"] = 2;
    json["colour"] = "green";
  });
  const auto entry = decode_entry(text, 17);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(entry.error().to_string(),
            "entry 17 of the commit log cannot be read: it is of format 2 and this outlast knows "
            "formats up to 1; use a newer outlast for this job");
}

// All with a checksum that fits: somebody wrote them so.
TEST(LogEntryText, OddEntriesAreRefused) {
  using Change = std::function<void(Json&)>;
  const auto refused = [](EntryKind kind, const Change& change, std::string_view why) {
    expect_refused(changed(kind, change), why);
  };
  refused(EntryKind::kFence, [](Json& json) { json["colour"] = 1; }, "more than an entry");
  refused(EntryKind::kFence, [](Json& json) { json["ended"] = 0; }, "another form");
  refused(EntryKind::kFence, [](Json& json) { json["target"] = 5; }, "more than an entry");
  refused(EntryKind::kFence, [](Json& json) { json.erase("floor"); }, "'floor'");
  refused(EntryKind::kFence, [](Json& json) { json.erase("format"); }, "another form");
  refused(EntryKind::kFence, [](Json& json) { json["format"] = 0; }, "another form");
  refused(EntryKind::kFence, [](Json& json) { json["kind"] = "wall"; }, "'wall' is no kind");
  refused(EntryKind::kFence, [](Json& json) { json["epoch"] = 0; }, "the epoch is 0");
  refused(EntryKind::kFence, [](Json& json) { json["epoch"] = -1; }, "'epoch'");
  refused(EntryKind::kFence, [](Json& json) { json["ended"] = 17; }, "the ending is 17");
  refused(EntryKind::kFence, [](Json& json) { json["time"] = "today"; }, "");
  refused(
      EntryKind::kFence, [](Json& json) { json["time"] = "2026-01-01T00:00:00Z"; }, "another form");
  refused(EntryKind::kFence, [](Json& json) { json["writer"] = std::string(257, 'x'); }, "writer");
  refused(EntryKind::kFence, [](Json& json) { json["why"] = "a\nb"; }, "plain text at byte 2");
  refused(EntryKind::kFence, [](Json& json) { json["nonce"] = ""; }, "nonce");
  refused(EntryKind::kPin, [](Json& json) { json["target"] = 17; }, "checkpoint is 17");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["kept"] = {5, 2}; }, "rising");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["kept"] = {5, 5}; }, "each once");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["kept"] = {5, 17}; }, "before 17");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["kept"] = {1.5, 5}; }, "places");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["kept"] = {2, 16}; }, "not among");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"] = 1; }, "'prune'");
  refused(EntryKind::kPrune, [](Json& json) { json["prune"]["condemned"] = "x"; }, "");
  const auto facts = [&](const Change& change, std::string_view why) {
    refused(EntryKind::kCheckpoint, [&](Json& json) { change(json["checkpoint"]); }, why);
  };
  facts([](Json& json) { json["manifests"] = Json::array(); }, "the number of manifests is 0");
  facts([](Json& json) { json["manifests"] = {"0"}; }, "");
  facts([](Json& json) { json["manifests"] = {7}; }, "no text");
  facts([](Json& json) { json["manifests"][0] = std::string(64, 'A'); }, "another form");
  facts([](Json& json) { json["metrics"] = Json::array(); }, "metrics");
  facts([](Json& json) { json["metrics"]["loss"] = nullptr; }, "'loss'");
  facts([](Json& json) { json["metrics"]["loss"] = 1; }, "another form");
  facts([](Json& json) { json["metrics"][""] = 1.5; }, "no name");
  facts([](Json& json) { json["step"] = kEntryNumberMax + 1; }, "the step");
  facts([](Json& json) { json["bytes"] = kEntryNumberMax + 1; }, "the size");
  facts([](Json& json) { json = 7; }, "");
  facts([](Json& json) { json = Json::array(); }, "");
}

TEST(LogEntryText, WhateverIsNoEntryIsRefused) {
  const std::string deep(1'000, '[');
  for (const std::string_view text :
       {"", "null", "[]", "{}", "7", "\"sum\"", "{\"sum\":1}", "{\"sum\":\"\"}", deep.c_str()}) {
    expect_refused(std::string(text), "");
  }
  const std::string blank(kEntryBytesMax, ' ');
  expect_refused(sum_again(*parse_json(R"({"a":1})")) + blank, "checksum");
  Random random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(100); n > 0; --n) {
      text += static_cast<char>(random.below(256));
    }
    expect_refused(text, "");
  }
}

TEST(CheckEntry, SaysWhatIsWrong) {
  LogEntry entry = sample_entry(EntryKind::kCheckpoint);
  EXPECT_TRUE(check_entry(entry));
  entry.checkpoint.metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(check_entry(entry).error().to_string(),
            "the metric 'loss' is nan, which is no number to compare by: leave it out");
  entry.checkpoint.metrics["loss"] = -std::numeric_limits<double>::infinity();
  EXPECT_FALSE(check_entry(entry));
  entry = sample_entry(EntryKind::kFence);
  entry.writer = "caf\xe9";
  EXPECT_EQ(check_entry(entry).error().to_string(), "the writer is not plain text at byte 4");
  entry = sample_entry(EntryKind::kFence);
  entry.time += Duration(1);
  EXPECT_EQ(check_entry(entry).error().to_string(), "the time is not in whole milliseconds");
  entry.time = WallTime::max() - WallTime::max().time_since_epoch() % std::chrono::milliseconds(1);
  EXPECT_EQ(check_entry(entry).error().to_string(), "the time is too far from now to be written");
  entry = sample_entry(EntryKind::kFence);
  entry.seq = kSeqMax + 1;
  EXPECT_EQ(check_entry(entry).error().to_string(),
            "the place is 1000000000000; it must be from 1 to 999999999999");
}

// The seeds were made by other means: every kind is among them, as we would write it.
TEST(LogEntryText, CorpusIsReplayed) {
  for (const EntryKind kind : all_entry_kinds()) {
    const auto path =
        testing::tree_path("tests/corpus/commit_entry/" + std::string(to_string(kind)));
    EXPECT_EQ(testing::file_bytes(path), '\x11' + encode_entry(sample_entry(kind)));
  }
  const auto files = testing::files_in("tests/corpus/commit_entry");
  for (const auto& path : files) testing::fuzz_commit_entry(testing::file_bytes(path));
  EXPECT_GE(files.size(), all_entry_kinds().size());
}

}  // namespace log_entry_test
}  // namespace
}  // namespace outlast::job
