#include "notice/slurm_job.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"

namespace outlast::notice {
namespace {

using std::chrono::seconds;

// As Slurm 22.05 prints it, with SLURM_TIME_FORMAT=%s; shortened.
constexpr std::string_view kPreempted =
    "JobId=1 JobName=train UserId=root(0) Priority=4294901759 Account=(null) QOS=(null) "
    "JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 "
    "ExitCode=0:0 RunTime=00:00:11 TimeLimit=00:10:00 TimeMin=N/A SubmitTime=1794925872 "
    "StartTime=1794925874 EndTime=1794925898 Deadline=N/A PreemptEligibleTime=1794925874 "
    "PreemptTime=1794925878 Partition=spot NodeList=vm BatchHost=vm Command=/tmp/train.sbatch "
    "WorkDir=/tmp \n\n";

SlurmJob parsed(std::string_view text) {
  const Result<SlurmJob> job = parse_slurm_job(text);
  EXPECT_TRUE(job) << job.error().to_string();
  return job.value_or(SlurmJob());
}

TEST(SlurmJob, APreemptedJobRunsUntilItsGraceIsOver) {
  EXPECT_EQ(parsed(kPreempted), (SlurmJob{.state = "RUNNING",
                                          .reason = "None",
                                          .partition = "spot",
                                          .ends = WallTime(seconds(1794925898)),
                                          .preempted = WallTime(seconds(1794925878))}));
  EXPECT_FALSE(has_ended(parsed(kPreempted)));
}

TEST(SlurmJob, WithoutALimitThereIsNoEnd) {
  const SlurmJob job =
      parsed("JobId=7 JobState=RUNNING TimeLimit=UNLIMITED EndTime=Unknown PreemptTime=None");
  EXPECT_EQ(job.ends, std::nullopt);
  EXPECT_EQ(job.preempted, std::nullopt);
}

TEST(SlurmJob, ATimeMayBeADateInUtc) {
  EXPECT_EQ(parsed("JobId=7 JobState=RUNNING EndTime=2026-11-17T14:31:38").ends,
            WallTime(seconds(1794925898)));
}

TEST(SlurmJob, WordsThatOnlyEndLikeAKeyAreOthers) {
  const SlurmJob job = parsed(
      "JobId=7 JobName=MyJobState=CANCELLED JobState=COMPLETING Reason=TimeLimit "
      "PreemptEligibleTime=12 Requeue=0 Restarts=3 BatchFlag=0 EndTime=Unknown");
  EXPECT_EQ(job, (SlurmJob{.state = "COMPLETING",
                           .reason = "TimeLimit",
                           .restarts = 3,
                           .is_batch = false,
                           .may_requeue = false}));
  EXPECT_TRUE(has_ended(job));
}

TEST(SlurmJob, JunkIsNoJob) {
  for (const std::string_view text :
       {"", "\n", "No jobs in the system", "JobId=7 JobName=x", "JobState=RUNNING",
        "JobId=7 JobState= Reason=None", "JobId=7 JobState=RUNNING EndTime=soon",
        "JobId=7 JobState=RUNNING EndTime=99999999999999999999",
        "JobId=7 JobState=RUNNING PreemptTime=-5", "<html>JobId</html>"}) {
    const Result<SlurmJob> job = parse_slurm_job(text);
    ASSERT_FALSE(job) << text;
    EXPECT_EQ(job.error().code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(SlurmConfig, SaysHowLongAfterTermAndWhichRelease) {
  EXPECT_EQ(parse_slurm_config("Configuration data as of 2026-11-17T14:38:33\n"
                               "KillOnBadExit           = 0\n"
                               "KillWait                = 5 sec\n"
                               "SLURM_VERSION           = 22.05.8\n"),
            (SlurmConfig{.kill_wait = seconds(5), .release = 2205}));
  EXPECT_EQ(parse_slurm_config("SLURM_VERSION = 24.11.0-0rc1").release, 2411U);
  for (const std::string_view text :
       {"", "KillWait", "KillWait = soon\nSLURM_VERSION = new", "SLURM_VERSION = 24.",
        "SLURM_VERSION = 24", "SLURM_VERSION = .11", "XKillWait = 5 sec"}) {
    EXPECT_EQ(parse_slurm_config(text), SlurmConfig()) << text;
  }
}

SlurmJob running() {
  return {.state = "RUNNING", .ends = WallTime(seconds(100))};
}
SlurmJob in_grace() {
  SlurmJob job = running();
  job.preempted = WallTime(seconds(80));
  return job;
}
const SlurmConfig kOld = {.release = 2205};
const SlurmConfig kNew = {.release = 2411};

bool requeues(const SlurmJob& job, const SlurmConfig& config) {
  return plan_slurm_release(job, config, 1).value_or(SlurmRelease()).requeue;
}

TEST(SlurmRelease, WhoLeavesInTheGraceIsQueuedAgainByHimselfOnlyWhereSlurmDoesNot) {
  EXPECT_TRUE(requeues(in_grace(), kOld));
  EXPECT_TRUE(requeues(in_grace(), {.release = 2311}));
  EXPECT_FALSE(requeues(in_grace(), {.release = 2405}));
  EXPECT_FALSE(requeues(in_grace(), kNew));
  EXPECT_EQ(plan_slurm_release(in_grace(), kNew, 1)->why,
            "Slurm queues the job again once we have left");
  EXPECT_TRUE(requeues(in_grace(), {})) << "once too often is better than never";
}

TEST(SlurmRelease, WherePreemptedJobsAreCancelledItIsQueuedAgainByUs) {
  SlurmConfig config = kNew;
  config.preempt_mode = parse_preempt_mode("PartitionName=spot PreemptMode=CANCEL GraceTime=25\n");
  EXPECT_TRUE(requeues(in_grace(), config));
  config.preempt_mode = parse_preempt_mode("");
  EXPECT_FALSE(requeues(in_grace(), config));
}

TEST(SlurmRelease, BeforeItsTimeLimitAJobIsQueuedAgainByUs) {
  for (const SlurmConfig& config : {kOld, kNew}) EXPECT_TRUE(requeues(running(), config));
}

TEST(SlurmRelease, AfterItsTimeLimitToo) {
  const SlurmJob job = {.state = "COMPLETING", .reason = "TimeLimit", .restarts = 1};
  for (const SlurmConfig& config : {kOld, kNew}) EXPECT_TRUE(requeues(job, config));
}

TEST(SlurmRelease, AJobThatWasCancelledIsNever) {
  for (const std::string state : {"COMPLETING", "CANCELLED", "FAILED", "NODE_FAIL"}) {
    const SlurmJob job = {.state = state, .reason = "None", .restarts = 1};
    for (const SlurmConfig& config : {kOld, kNew}) {
      const Result<SlurmRelease> release = plan_slurm_release(job, config, 1);
      ASSERT_TRUE(release);
      EXPECT_EQ(*release, SlurmRelease()) << state;
    }
  }
}

TEST(SlurmRelease, AJobThatSlurmHasQueuedAgainIsNotASecondTime) {
  const SlurmJob job = {.state = "COMPLETING", .reason = "None", .restarts = 2};
  for (const SlurmConfig& config : {kOld, kNew}) {
    EXPECT_EQ(plan_slurm_release(job, config, 1)->why, "Slurm has queued the job again");
    EXPECT_FALSE(requeues(job, config));
  }
}

TEST(SlurmRelease, WhatCannotBeQueuedAgainIsSaid) {
  SlurmJob job = running();
  job.may_requeue = false;
  EXPECT_EQ(plan_slurm_release(job, kNew, 0).error().to_string(),
            "this job may not be queued again (sbatch --requeue): submit it again by hand");
  job.is_batch = false;
  EXPECT_EQ(plan_slurm_release(job, kNew, 0).error().to_string(),
            "Slurm queues only batch jobs again (sbatch): start this one again by hand");
}

}  // namespace
}  // namespace outlast::notice
