#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/testing/ckpt_session.h"
#include "cli/testing/command_runner.h"
#include "cli/testing/desk_job.h"
#include "job/log_entry.h"
#include "sys/threads.h"

namespace outlast::cli {
namespace logs_test {

using agent::AgentState;
using agent::AttemptOutcome;
using std::chrono::seconds;
using testing::CkptSession;
using testing::DeskJob;
using testing::in_ckpt_session;
using testing::mentions_all;
using testing::Ran;

// Two attempts, epochs 1 and 2, each of which printed something.
void print_two(DeskJob& job) {
  job.begin();
  job.print("first\nline");
  job.event("begun", "begun on gpu-1", agent::EventLevel::kGood);
  job.begin();
  job.print("second\n");
  job.event("resumed", "resumed at step 4");
}

TEST(Logs, AreThoseOfTheNewestAttemptOrOfOneOrOfAll) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    print_two(job);
    const Ran newest = session.run({"logs", "j", "--root", "/root"});
    EXPECT_EQ(newest.exit_code, 0) << newest.err;
    EXPECT_EQ(newest.out, "second\n");
    EXPECT_EQ(newest.err, "see more as it comes: outlast logs j --root /root -f\n");
    EXPECT_EQ(session.run({"logs", "j", "--root", "/root", "--attempt", "1"}).out, "first\nline\n");
    const Ran all = session.run({"logs", "j", "--root", "/root", "--all"});
    EXPECT_TRUE(mentions_all(
        all.out, {"==== attempt 1, on gpu-1 since ",
                  " ====\nfirst\nline\n====", " attempt 2, on gpu-1 since ", " ====\nsecond\n"}))
        << all.out;
    EXPECT_EQ(session.run({"logs", "j", "--root", "/root", "--all", "--json"}).out,
              "{\"attempt\":1,\"line\":\"first\"}\n{\"attempt\":1,\"line\":\"line\"}\n"
              "{\"attempt\":2,\"line\":\"second\"}\n");
  });
}

TEST(Logs, WhatIsNotThereIsNamed) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"/t"});
    const Ran never = session.run({"logs", "j", "--root", "/root"});
    EXPECT_EQ(never.exit_code, 3);
    EXPECT_TRUE(mentions_all(never.err, {"was never run by 'outlast run'"})) << never.err;
    DeskJob job(session.world(), "k");
    job.begin();
    const Ran silent = session.run({"logs", "k", "--root", "/root"});
    EXPECT_EQ(silent.out, "");
    EXPECT_TRUE(mentions_all(silent.err, {"attempt 1 has printed nothing so far\n"}));
    const Ran other = session.run({"logs", "k", "--root", "/root", "--attempt", "7"});
    EXPECT_EQ(other.exit_code, 3);
    EXPECT_TRUE(mentions_all(other.err, {"has no attempt 7; it has 1"})) << other.err;
    const Ran both = session.run({"logs", "k", "--root", "/root", "--attempt", "1", "--all"});
    EXPECT_EQ(both.exit_code, 2);
  });
}

// Prints, vanishes, goes on as another attempt on another machine, and is done.
void live_two_lives(DeskJob& job, CkptSession& session, const std::stop_token& stop) {
  const auto pause = [&](Duration length) {
    (void)session.world().clock.sleep_for(length, {.stop = stop});
  };
  pause(seconds(5));
  job.print("one\n");
  job.event("one", "one");
  pause(seconds(100));
  job.begin();
  job.beat({.state = AgentState::kTraining});
  job.print("two\n");
  job.event("two", "two");
  pause(seconds(5));
  job.append(job::EntryKind::kDone);
  // The log says so first; what is printed before the last beat is still waited for.
  pause(seconds(7));
  job.print("three\n");
  job.event("three", "three");
  job.end(AttemptOutcome::kDone);
}

Ran follow_two_lives(CkptSession& session, const std::string& command) {
  DeskJob job(session.world(), "j");
  job.begin();
  job.beat({.state = AgentState::kTraining});
  const std::unique_ptr<sys::Thread> trainer = session.world().threads.spawn(
      "trainer", [&](const std::stop_token& stop) { live_two_lives(job, session, stop); });
  Ran ran = session.run({command, "j", "--root", "/root", "-f"});
  trainer->join();
  return ran;
}

TEST(Logs, AreFollowedOverAChangeOfAttemptsUntilTheJobHasEnded) {
  in_ckpt_session([](CkptSession& session) {
    const Ran ran = follow_two_lives(session, "logs");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with("one\n==== attempt 2, on gpu-1 since ")) << ran.out;
    EXPECT_TRUE(ran.out.ends_with(" ====\ntwo\nthree\n")) << ran.out;
    EXPECT_EQ(ran.err,
              "attempt 1: vanished; waiting for the next (Ctrl-C ends this)\n"
              "how it ended: outlast status j --root /root\n");
  });
}

TEST(Events, AreFollowedInTheSameWay) {
  in_ckpt_session([](CkptSession& session) {
    const Ran ran = follow_two_lives(session, "events");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(
        mentions_all(ran.out, {"Z  attempt 1  one\n", "Z  attempt 2  two\n", "attempt 2  three\n"}))
        << ran.out;
  });
}

TEST(Events, AreThoseOfAllAttemptsInOrder) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    print_two(job);
    const Ran all = session.run({"events", "j", "--root", "/root"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_LT(all.out.find("Z  attempt 1  begun on gpu-1\n"),
              all.out.find("Z  attempt 2  resumed at step 4\n"))
        << all.out;
    EXPECT_EQ(all.err, "how it stands: outlast status j --root /root\n");
    const Ran one = session.run({"events", "j", "--root", "/root", "--attempt", "2", "--json"});
    const Json event = parse_json(one.out).value_or(Json());
    EXPECT_EQ(event.value("attempt", 0), 2) << one.out;
    EXPECT_EQ(event.value("event", ""), "resumed");
    EXPECT_EQ(event.value("text", ""), "resumed at step 4");
    EXPECT_EQ(event.value("n", 0), 1);
  });
}

TEST(Events, ALineThatCannotBeReadHidesNoOther) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.put(job.store(), "attempts/00000001/events/00000001", "nonsense\n");
    const Ran ran = session.run({"events", "j", "--root", "/root"});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_TRUE(mentions_all(ran.err, {"warning: attempt 1: this is no line about an event"}))
        << ran.err;
  });
}

}  // namespace logs_test
}  // namespace outlast::cli
