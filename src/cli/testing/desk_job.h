#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/stream_writer.h"
#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/commit_log.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "store/prefixed_store.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::cli::testing {

// Leaves in /root what an attempt of a job would leave there.
class DeskJob {
 public:
  DeskJob(sys::World& world, std::string job) : world_(world), job_(std::move(job)) {
    EXPECT_TRUE(sys::make_dirs(world.files, "/root"));
    const auto url = store::parse_store_url("/root");
    auto root = store::open_store(*url, world);
    EXPECT_TRUE(root);
    root_ = *std::move(root);
    stream_store_ = std::make_unique<store::PrefixedStore>(*root_, "jobs/" + job_ + "/");
    reopen();
  }

  // A new attempt with a record; its epoch.
  job::Epoch begin(const std::string& command = "python train.py") {
    reopen();
    const auto epoch = checkpoints_->log().take_over("run", {});
    EXPECT_TRUE(epoch) << epoch.error().to_string();
    record_ = {.epoch = epoch.value_or(0),
               .agent = {.host = "gpu-1", .machine = "m", .pid = 4711},
               .version = "0.1.0",
               .began = world_.clock.wall_now(),
               .command = command,
               .folder = "/work",
               .ends = record_.ends};
    put_record();
    printed_ = stream(agent::printed_prefix(record_.epoch));
    events_ = stream(agent::events_prefix(record_.epoch));
    return record_.epoch;
  }

  agent::AttemptRecord& record() { return record_; }
  void put_record() {
    put(store(), agent::attempt_key(record_.epoch), agent::encode_attempt(record_));
  }

  void beat(agent::Beat beat) {
    beat.epoch = record_.epoch;
    beat.agent = record_.agent;
    beat.time = world_.clock.wall_now();
    put(*root_, agent::beat_key(job_), agent::encode_beat(beat));
  }
  void put_beat_text(const std::string& text) { put(*root_, agent::beat_key(job_), text); }
  void end(agent::AttemptOutcome outcome, const std::string& why = "") {
    record_.ended = {.time = world_.clock.wall_now(), .outcome = outcome, .why = why};
    put_record();
    beat({.state = agent::AgentState::kEnded, .outcome = outcome});
  }
  void append(job::EntryKind kind, const std::string& why = "trained") {
    EXPECT_TRUE(checkpoints_->log().append({.kind = kind, .why = why}, {}, {}));
  }

  void print(std::string_view text) {
    printed_->append(text);
    EXPECT_TRUE(printed_->flush({}));
  }
  void event(const std::string& kind, const std::string& sentence,
             agent::EventLevel level = agent::EventLevel::kNote) {
    events_->append(agent::encode_event({.time = world_.clock.wall_now(),
                                         .level = level,
                                         .kind = kind,
                                         .sentence = sentence,
                                         .facts = {{"n", 1}}}));
    EXPECT_TRUE(events_->flush({}));
  }

  // The log as it is now.
  checkpoint::CommitLog& log() {
    reopen();
    return checkpoints_->log();
  }
  store::ObjectStore& store() { return checkpoints_->store(); }
  void put(store::ObjectStore& into, const std::string& key, const std::string& text) {
    EXPECT_TRUE(into.put(key, as_bytes(text), store::WriteIf::always(), {})) << key;
  }

 private:
  void reopen() {
    auto open = checkpoint::Checkpoints::open({.root = *root_,
                                               .files = world_.files,
                                               .threads = world_.threads,
                                               .clock = world_.clock,
                                               .random = world_.random,
                                               .writer = "test"},
                                              job_, {});
    EXPECT_TRUE(open);
    checkpoints_ = *std::move(open);
  }

  std::unique_ptr<agent::StreamWriter> stream(std::string prefix) {
    return std::make_unique<agent::StreamWriter>(*stream_store_, std::move(prefix));
  }

  sys::World& world_;
  const std::string job_;
  std::unique_ptr<store::ObjectStore> root_;
  std::unique_ptr<checkpoint::Checkpoints> checkpoints_;
  std::unique_ptr<store::ObjectStore> stream_store_;
  std::unique_ptr<agent::StreamWriter> printed_;
  std::unique_ptr<agent::StreamWriter> events_;
  agent::AttemptRecord record_;
};

}  // namespace outlast::cli::testing
