#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/job_look.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/testing/ckpt_session.h"
#include "cli/testing/command_runner.h"
#include "cli/testing/desk_job.h"
#include "job/log_entry.h"
#include "job/retry_budget.h"

namespace outlast::cli {
namespace desk_test {

using agent::AgentState;
using agent::AttemptOutcome;
using std::chrono::seconds;
using testing::CkptSession;
using testing::DeskJob;
using testing::in_ckpt_session;
using testing::mentions_all;
using testing::Ran;

agent::Beat training_beat() {
  return {.state = AgentState::kTraining,
          .progress = {.step = 420,
                       .total = 1000,
                       .rate = 2.25,
                       .metrics = {{"loss", 0.125}},
                       .not_finite = {"grad"}},
          .lag = seconds(12),
          .next_save = "in 4m12s: every 5m",
          .margin = -seconds(3),
          .trouble = "the store is slow"};
}

// "state" by job.
std::string states(CkptSession& session) {
  const Ran ran = session.run({"ls", "--root", "/root", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  std::string text;
  const Json listed = parse_json(ran.out).value_or(Json());
  for (const Json& one : listed["jobs"]) {
    text += one.value("job", "") + ": " + one.value("state", "") + "\n";
  }
  return text;
}

void wait(CkptSession& session, Duration length) {
  EXPECT_TRUE(session.world().clock.sleep_for(length, {}));
}

TEST(Ls, SaysHowEachJobStands) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"/t"});  // job j
    DeskJob silent(session.world(), "silent");
    silent.begin();
    silent.beat(training_beat());
    DeskJob over(session.world(), "over-silent");
    over.begin();
    over.beat(training_beat());
    over.append(job::EntryKind::kDone);
    wait(session, agent::kBeatStale + seconds(2));
    for (const auto& [name, state] :
         std::vector<std::pair<std::string, AgentState>>{{"a-starting", AgentState::kStarting},
                                                         {"b-training", AgentState::kTraining},
                                                         {"c-waiting", AgentState::kWaiting},
                                                         {"d-leaving", AgentState::kLeaving}}) {
      DeskJob job(session.world(), name);
      job.begin();
      agent::Beat beat = training_beat();
      beat.state = state;
      job.beat(beat);
    }
    DeskJob done(session.world(), "done");
    done.begin();
    done.append(job::EntryKind::kDone);
    done.end(AttemptOutcome::kDone);
    DeskJob left(session.world(), "left");
    left.begin();
    left.end(AttemptOutcome::kLeft);
    DeskJob left_and_cancelled(session.world(), "left-cancelled");
    left_and_cancelled.begin();
    left_and_cancelled.end(AttemptOutcome::kLeft);
    left_and_cancelled.append(job::EntryKind::kCancelled);
    EXPECT_EQ(states(session),
              "a-starting: starting\n"
              "b-training: training\n"
              "c-waiting: waiting\n"
              "d-leaving: leaving\n"
              "done: done\n"
              "j: only checkpoints\n"
              "left: left, to be resumed\n"
              "left-cancelled: cancelled\n"
              "over-silent: done\n"
              "silent: vanished\n");
  });
}

TEST(Ls, PrintsATableAndWhatToTypeNext) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j1");
    job.begin();
    agent::Beat beat = training_beat();
    beat.committed = {
        {.seq = 9, .step = 400, .time = session.world().clock.wall_now(), .bytes = 10}};
    job.beat(beat);
    wait(session, seconds(3));
    const Ran ran = session.run({"ls", "--root", "/root"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(mentions_all(ran.out, {"job ", "state", "heard of\n", "j1 ", "training", "420/1000",
                                       "2.25/s", "9 at step 400, 3s ago", "gpu-1", "s ago\n"}))
        << ran.out;
    EXPECT_EQ(ran.err, "look closer: outlast status j1 --root /root\n");
    EXPECT_EQ(session.run({"ls", "--root", "/root", "--quiet"}).err, "");
  });
}

TEST(Ls, AnEmptyRootAndOneThatIsNotThere) {
  in_ckpt_session([](CkptSession& session) {
    const Ran none = session.run({"ls"});
    EXPECT_EQ(none.exit_code, 3);
    EXPECT_TRUE(mentions_all(none.err, {"there is no root", "outlast-root"})) << none.err;
    DeskJob job(session.world(), "j1");  // makes the folder, and nothing in it
    const Ran empty = session.run({"ls", "--root", "/root"});
    EXPECT_EQ(empty.exit_code, 0);
    EXPECT_EQ(empty.out, "");
    EXPECT_EQ(empty.err, "no jobs in /root yet; start one: outlast run --root /root -- COMMAND\n");
  });
}

TEST(Ls, ADamagedBeatHidesNothingElse) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob bad(session.world(), "bad");
    bad.begin();
    bad.put_beat_text("{");
    DeskJob ended(session.world(), "bad-done");
    ended.begin();
    ended.append(job::EntryKind::kDone);
    ended.put_beat_text("{");
    DeskJob good(session.world(), "good");
    good.begin();
    good.beat(training_beat());
    EXPECT_EQ(states(session), "bad: unknown\nbad-done: done\ngood: training\n");
    const Ran ran = session.run({"ls", "--root", "/root"});
    EXPECT_TRUE(mentions_all(ran.err, {"warning: job 'bad': the beat cannot be read"})) << ran.err;
  });
}

TEST(Status, TellsEverythingOnOneScreen) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"--step", "400", "/t"});
    DeskJob job(session.world(), "j");
    job.record().ends = {{.kind = job::AttemptEnd::Kind::kFailed, .death = "SIGSEGV", .step = 410}};
    job.begin("python train.py --lr 0.1");
    job.record().restored = {{.seq = 2, .step = 400, .bytes = 1}};
    job.put_record();
    for (int i = 1; i <= 7; ++i) job.event("saved", "saved number " + std::to_string(i));
    agent::Beat beat = training_beat();
    beat.notice = {{.source = "gce",
                    .ends = session.world().clock.wall_now() + seconds(30),
                    .why = "preempted"}};
    job.beat(beat);
    const Ran ran = session.run({"status", "j", "--root", "/root"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(mentions_all(
        ran.out,
        {"job 'j' in /root\n", "training, heard of ", "python train.py --lr 0.1",
         "2 (1 so far) on gpu-1, process 4711, since ", "from checkpoint 2 at step 400",
         "step 420 of 1000 (42 %), 2.25 steps/s", "loss=0.125, grad is not finite",
         "checkpoint  2 at step 400, ", "unsaved     for 12s", "in 4m12s: every 5m",
         "3s short: what is unsaved does not fit the notice", "this machine ends at ",
         "(gce: preempted)", "the store is slow", "1 of 3 used: the trainer died of SIGSEGV",
         "attempt 2  saved number 3\n", "saved number 7\n"}))
        << ran.out;
    EXPECT_EQ(ran.out.find("saved number 2"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err, "watch it: outlast logs j --root /root -f\n");
  });
}

TEST(Status, SaysWhatToTypeNext) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin("python train.py && echo 'done'");
    job.event("begun", "begun");
    job.begin("python train.py && echo 'done'");
    job.beat(training_beat());
    wait(session, agent::kBeatStale + seconds(2));
    const Ran vanished = session.run({"status", "j", "--root", "/root"});
    EXPECT_TRUE(mentions_all(vanished.out, {"vanished, heard of 1m", "attempt 1  begun"}))
        << vanished.out;
    EXPECT_EQ(vanished.out.find("unsaved"), std::string::npos) << vanished.out;
    EXPECT_EQ(vanished.err,
              "go on with it: outlast run --root /root --job j -- sh -c 'python train.py && echo "
              "'\\''done'\\'''\n");
    job.append(job::EntryKind::kFailed, "no retries left");
    job.end(AttemptOutcome::kFailed);
    const Ran failed = session.run({"status", "j", "--root", "/root"});
    EXPECT_TRUE(mentions_all(failed.out, {"failed since ", ": no retries left"})) << failed.out;
    EXPECT_EQ(failed.err, "go on with it: outlast resume j --root /root\n");
  });
}

TEST(Status, TheRetriesAreThoseOfTheSpec) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.put(job.store(), "spec.json", R"({"name":"j","root":"/root","run":"true","retries":7})");
    const Ran ran = session.run({"status", "j", "--root", "/root", "--json"});
    const Json json = parse_json(ran.out).value_or(Json());
    EXPECT_EQ(json["retries"], (Json{{"used", 0}, {"allowed", 7}})) << ran.out << ran.err;
    EXPECT_EQ(json["attempt"].value("command", ""), "python train.py");
    job.put(job.store(), "spec.json", "{");
    const Ran damaged = session.run({"status", "j", "--root", "/root"});
    EXPECT_EQ(damaged.exit_code, 0);
    EXPECT_TRUE(mentions_all(damaged.err, {"warning:", "spec.json cannot be read"})) << damaged.err;
  });
}

TEST(Desk, AWrongNameIsAnsweredWithTheRightOnes) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob(session.world(), "resnet").begin();
    for (const std::string command : {"status", "logs", "events", "cancel", "resume"}) {
      const Ran ran = session.run({command, "resnt", "--root", "/root"});
      EXPECT_EQ(ran.exit_code, 3) << command;
      EXPECT_TRUE(mentions_all(ran.err, {"there is no job 'resnt' in /root", "resnet"})) << ran.err;
    }
  });
}

TEST(Desk, WhatIsThereBelongsThere) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.print("hello\n");
    job.event("begun", "begun");
    job.put(job.store(), "spec.json", "{}");
    job.put(job.store(), "output/model.bin", "x");
    job.beat(training_beat());
    const Ran ran = session.ckpt("verify");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ((ran.out + ran.err).find("does not belong"), std::string::npos) << ran.out << ran.err;
  });
}

TEST(Cancel, EndsAJobOnce) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.beat(training_beat());
    const Ran ran = session.run({"cancel", "j", "--root", "/root", "--why", "bad seed"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out,
              "job 'j' in /root is cancelled; attempt 1 on gpu-1, if it still lives, notices "
              "within about 15 s, saves "
              "and leaves\n");
    EXPECT_EQ(ran.err, "to go on with it later: outlast resume j --root /root\n");
    const job::LogEntry* ending = job.log().history().ending();
    ASSERT_NE(ending, nullptr);
    EXPECT_EQ(ending->kind, job::EntryKind::kCancelled);
    EXPECT_EQ(ending->why, "bad seed");
    const Ran again = session.run({"cancel", "j", "--root", "/root"});
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_TRUE(mentions_all(again.err, {"has already ended: cancelled since ", "(bad seed)"}))
        << again.err;
    const Ran status = session.run({"status", "j", "--root", "/root"});
    EXPECT_TRUE(mentions_all(status.out, {"cancelled since ", "attempt 1 has not left yet"}))
        << status.out;
  });
}

TEST(Resume, MakesAnEndedJobOneThatCanBeRun) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.append(job::EntryKind::kDone);
    job.end(AttemptOutcome::kDone);
    EXPECT_EQ(states(session), "j: done\n");
    const Ran ran = session.run({"resume", "j", "--root", "/root"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, "job 'j' in /root was done and can be run again\n");
    EXPECT_EQ(ran.err, "go on with it: outlast run --root /root --job j -- python train.py\n");
    EXPECT_EQ(job.log().history().ended(), 0U);
    // Although the last beat was one of a job that is done.
    EXPECT_EQ(states(session), "j: left, to be resumed\n");
    const job::Epoch epoch = job.log().history().highest();
    const Ran again = session.run({"resume", "j", "--root", "/root"});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_TRUE(mentions_all(again.out, {"has not ended and nobody runs it: nothing is needed"}))
        << again.out;
    EXPECT_EQ(again.err, ran.err);
    EXPECT_EQ(job.log().history().highest(), epoch) << "nothing was written";
  });
}

TEST(Resume, IsRefusedAsLongAsSomebodyRunsIt) {
  in_ckpt_session([](CkptSession& session) {
    DeskJob job(session.world(), "j");
    job.begin();
    job.beat(training_beat());
    const Ran running = session.run({"resume", "j", "--root", "/root"});
    EXPECT_EQ(running.exit_code, 1);
    EXPECT_TRUE(mentions_all(running.err, {"is running: attempt 1 on gpu-1, heard of "}))
        << running.err;
    EXPECT_EQ(session.run({"cancel", "j", "--root", "/root"}).exit_code, 0);
    const Ran leaving = session.run({"resume", "j", "--root", "/root"});
    EXPECT_EQ(leaving.exit_code, 4) << "later it works";
    EXPECT_TRUE(mentions_all(leaving.err, {"still being left by attempt 1 on gpu-1"}))
        << leaving.err;
    wait(session, agent::kBeatStale + seconds(2));
    EXPECT_EQ(session.run({"resume", "j", "--root", "/root"}).exit_code, 0);
  });
}

}  // namespace desk_test
}  // namespace outlast::cli
