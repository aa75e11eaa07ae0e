// A job on a simulated node, and a program that stands in for scontrol.
#include "notice/slurm_source.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "job/place_facts.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/slurm_place.h"
#include "sim/kernel.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Records what is said about scontrol.
class SlurmLog : public LogSink {
 public:
  void write(LogRecord record) override { lines.push_back(format_log_text(record)); }
  std::vector<std::string> lines;
};

struct SlurmHeard {
  Duration left = {};
  std::string why = {};  // "" is a notice withdrawn
};

// A node, the job on it, and what scontrol answers there.
class SlurmNode {
 public:
  std::string job = "JobId=42 JobState=RUNNING Requeue=1 Restarts=0 BatchFlag=1";
  std::string config = "KillWait = 12 sec\nSLURM_VERSION = 22.05.8\n";
  std::string partition;
  std::string trouble;  // what it says instead, and fails
  bool hangs = false;
  bool is_installed = true;
  std::map<std::string, std::string> variables = {{"SLURM_JOB_ID", "42"},
                                                  {"SLURM_JOB_PARTITION", "spot"}};

  std::vector<std::string> asked;  // each time
  std::vector<SlurmHeard> heard;
  job::PlaceFacts place;
  SlurmLog log;
  std::vector<std::string> released;  // what release() said

  // "EndTime=…", so far from now.
  std::string ends_in(Duration time) { return time_of("EndTime", time); }
  std::string time_of(const std::string& key, Duration from_now) {
    const auto at = machine_->world().clock.wall_now() + from_now;
    return fmt::format(" {}={}", key,
                       std::chrono::duration_cast<seconds>(at.time_since_epoch()).count());
  }
  void signal(int number) { machine_->signal(number); }
  void wait(Duration time) { (void)simulation_->clock().sleep_for(time, {}); }
  void release() {
    release_ = true;
    wait(seconds(30));
  }

  void play(const std::function<void(SlurmNode&)>& prepare,
            const std::function<void(SlurmNode&)>& events) {
    sim::Simulation simulation({.seed = 7});
    simulation_ = &simulation;
    machine_ = &simulation.add_machine("m1");
    for (const auto& [name, value] : variables) machine_->environment().variables[name] = value;
    if (is_installed) {
      machine_->processes().install("scontrol",
                                    [this](sim::SimProcessSelf& self) { return answer(self); });
    }
    const sim::Outcome outcome = simulation.run([&] {
      prepare(*this);
      machine_->boot([this](sys::World& world) { run(world); }, {});
      wait(seconds(2));
      events(*this);
      wait(seconds(3));
      enough_ = true;
      EXPECT_TRUE(machine_->wait_until_off({}));
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }

 private:
  void run(sys::World& world) {
    std::optional<NoticeBoard> board;
    board.emplace([&] {
      place = board->place().value_or(job::PlaceFacts());
      const std::optional<Notice> notice = board->current();
      if (!notice && heard.empty()) return;  // only the place
      heard.push_back(
          notice ? SlurmHeard{.left = notice->ends - world.clock.mono_now(), .why = notice->why}
                 : SlurmHeard());
    });
    Result<std::unique_ptr<SlurmSource>> source = SlurmSource::make(
        world, slurm_place(world.environment).value_or(SlurmPlace()), Logger(log), seconds(30));
    ASSERT_TRUE(source) << source.error().to_string();
    std::vector<std::unique_ptr<NoticeSource>> sources;
    sources.push_back(*std::move(source));
    NoticeWatch watch(world.threads, *board, std::move(sources));
    while (!enough_) {
      (void)world.clock.sleep_for(milliseconds(500), {});
      if (!std::exchange(release_, false)) continue;
      for (const Result<std::string>& done : watch.release({}, {})) {
        released.push_back(done ? *done : done.error().to_string());
      }
    }
  }

  int answer(sim::SimProcessSelf& self) {
    std::string words;
    for (const std::string& word : self.spec().argv) words += word + " ";
    asked.push_back(words);
    if (hangs) (void)machine_->world().clock.sleep_for(hours(1), {});
    if (!trouble.empty()) {
      self.err(trouble);
      return 1;
    }
    if (words == "scontrol show job -o 42 ") self.out(job);
    if (words == "scontrol show config ") self.out(config);
    if (words == "scontrol show partition -o spot ") self.out(partition);
    return 0;
  }

  sim::Simulation* simulation_ = nullptr;
  sim::Machine* machine_ = nullptr;
  bool release_ = false;
  bool enough_ = false;
};

bool is_left(Duration value, Duration wanted) {
  return value <= wanted && value > wanted - seconds(3);
}

void nothing(SlurmNode& /*node*/) {}

TEST(SlurmSource, ALimitIsKnownFromTheBeginningAndSaidOnce) {
  SlurmNode node;
  node.play([](SlurmNode& self) { self.job += self.ends_in(hours(5)); },
            [](SlurmNode& self) { self.wait(minutes(10)); });
  ASSERT_EQ(node.heard.size(), 1U);
  EXPECT_TRUE(is_left(node.heard[0].left, hours(5)));
  EXPECT_EQ(node.heard[0].why, "the time limit of Slurm job 42");
  EXPECT_EQ(node.place.zone, "spot");
  EXPECT_GE(node.asked.size(), 10U) << "once a minute";
  EXPECT_LE(node.asked.size(), 14U);
  EXPECT_TRUE(node.log.lines.empty());
}

TEST(SlurmSource, ALimitThatIsProlongedOrLiftedIsFollowed) {
  SlurmNode node;
  node.play([](SlurmNode& self) { self.job += self.ends_in(hours(1)); },
            [](SlurmNode& self) {
              const std::string before = self.job;
              self.job = before.substr(0, before.find(" EndTime")) + self.ends_in(hours(9));
              self.wait(minutes(2));
              self.job = before.substr(0, before.find(" EndTime")) + " EndTime=Unknown";
              self.wait(minutes(2));
            });
  ASSERT_EQ(node.heard.size(), 3U);
  EXPECT_GT(node.heard[1].left, hours(8));
  EXPECT_EQ(node.heard[2].why, "");
}

TEST(SlurmSource, APreemptionIsHeardAtOnceBySignal) {
  SlurmNode node;
  node.play([](SlurmNode& self) { self.job += self.ends_in(hours(5)); },
            [](SlurmNode& self) {
              self.job = "JobId=42 JobState=RUNNING" + self.time_of("PreemptTime", {}) +
                         self.ends_in(seconds(90));
              self.signal(SIGUSR1);
              self.wait(seconds(1));
            });
  ASSERT_EQ(node.heard.size(), 2U);
  EXPECT_TRUE(is_left(node.heard[1].left, seconds(90)));
  EXPECT_EQ(node.heard[1].why, "Slurm preempts job 42");
}

TEST(SlurmSource, APreemptionThatNobodyTellsIsHeardWithinAMinute) {
  SlurmNode node;
  node.play(nothing, [](SlurmNode& self) {
    self.job =
        "JobId=42 JobState=RUNNING" + self.time_of("PreemptTime", {}) + self.ends_in(minutes(2));
    self.wait(minutes(1));
  });
  ASSERT_EQ(node.heard.size(), 1U);
  EXPECT_GT(node.heard[0].left, seconds(50));
}

TEST(SlurmSource, TermLeavesWhatTheClusterSaysAndASecondOneNoMore) {
  SlurmNode node;
  node.play(nothing, [](SlurmNode& self) {
    self.job = "JobId=42 JobState=COMPLETING Reason=None";
    self.signal(SIGTERM);
    self.wait(seconds(5));
    self.signal(SIGTERM);
    self.wait(seconds(1));
  });
  ASSERT_EQ(node.heard.size(), 1U);
  EXPECT_EQ(node.heard[0].why, "SIGTERM in Slurm job 42, which leaves 12s");
  EXPECT_TRUE(is_left(node.heard[0].left, seconds(12)));
}

TEST(SlurmSource, TermAtTheBeginningOfTheGraceLeavesAllOfIt) {
  SlurmNode node;
  node.play(nothing, [](SlurmNode& self) {
    self.job =
        "JobId=42 JobState=RUNNING" + self.time_of("PreemptTime", {}) + self.ends_in(minutes(2));
    self.signal(SIGTERM);
    self.wait(seconds(40));
    self.signal(SIGTERM);  // long after what the first would have left
    self.wait(seconds(1));
  });
  ASSERT_GE(node.heard.size(), 3U);
  EXPECT_TRUE(is_left(node.heard[1].left, minutes(2)));
  EXPECT_TRUE(is_left(node.heard[2].left, seconds(12)));
}

TEST(SlurmSource, TermIsHeardAtOnceAlsoWhileScontrolHangs) {
  SlurmNode node;
  node.play(nothing, [](SlurmNode& self) {
    self.hangs = true;
    self.signal(SIGUSR1);
    self.wait(seconds(1));
    self.signal(SIGTERM);
    self.wait(seconds(1));
    EXPECT_EQ(self.heard.size(), 1U);
  });
  ASSERT_EQ(node.heard.size(), 1U);
  EXPECT_TRUE(is_left(node.heard[0].left, seconds(12)));
}

TEST(SlurmSource, TermLeavesTheGraceWhereSlurmDoesNotSayMore) {
  SlurmNode node;
  node.is_installed = false;
  node.play(nothing, [](SlurmNode& self) { self.signal(SIGTERM); });
  ASSERT_EQ(node.heard.size(), 1U);
  EXPECT_TRUE(is_left(node.heard[0].left, seconds(30)));
}

TEST(SlurmSource, TheEnvironmentsEndHoldsWhileScontrolIsAwayAndThatIsSaidOnce) {
  for (int kind = 0; kind < 4; ++kind) {
    SlurmNode node;
    node.is_installed = kind != 0;
    node.hangs = kind == 1;
    if (kind == 2) node.trouble = "slurm_load_jobs error: Unable to contact slurm controller\n";
    if (kind == 3) node.job = "<html>503</html>";
    node.variables["SLURM_JOB_END_TIME"] = "4000000000";
    node.play(nothing, [](SlurmNode& self) { self.wait(minutes(5)); });
    ASSERT_EQ(node.heard.size(), 1U) << kind;
    EXPECT_EQ(node.heard[0].why, "the time limit of Slurm job 42");
    ASSERT_EQ(node.log.lines.size(), 1U) << kind;
    EXPECT_NE(node.log.lines[0].find("notice.slurm_silent"), std::string::npos);
  }
}

TEST(SlurmSource, IsHeardAgainOnceScontrolIsBackAndMissedAgainAfterwards) {
  SlurmNode node;
  node.trouble = "slurm_load_jobs error: Unable to contact slurm controller\n";
  node.play(nothing, [](SlurmNode& self) {
    const std::string trouble = std::exchange(self.trouble, "");
    self.job =
        "JobId=42 JobState=RUNNING" + self.time_of("PreemptTime", {}) + self.ends_in(minutes(5));
    self.wait(minutes(2));
    self.trouble = trouble;
    self.wait(minutes(2));
  });
  ASSERT_EQ(node.heard.size(), 1U) << "what was said still holds";
  EXPECT_EQ(node.log.lines.size(), 2U);
}

TEST(SlurmSource, AStateThatMayPassIsNoEnd) {
  SlurmNode node;
  node.play(nothing, [](SlurmNode& self) {
    self.job = "JobId=42 JobState=SUSPENDED EndTime=Unknown";
    self.signal(SIGUSR1);
    self.wait(seconds(5));
  });
  EXPECT_TRUE(node.heard.empty());
}

TEST(SlurmSource, ReleaseQueuesARunningJobAgain) {
  SlurmNode node;
  node.play([](SlurmNode& self) { self.job += self.ends_in(minutes(2)); },
            [](SlurmNode& self) { self.release(); });
  EXPECT_EQ(node.released, std::vector<std::string>{"Slurm job 42 is queued again"});
  EXPECT_EQ(node.asked.back(), "scontrol requeue 42 ");
}

TEST(SlurmSource, ReleaseOfAPreemptedJobAsksWhetherItWouldBeCancelled) {
  for (const std::string mode : {"REQUEUE", "CANCEL"}) {
    SlurmNode node;
    node.config = "PreemptType = preempt/partition_prio\nSLURM_VERSION = 24.11.5\n";
    node.partition = "PartitionName=spot PreemptMode=" + mode;
    node.play(nothing, [](SlurmNode& self) {
      self.job = "JobId=42 JobState=RUNNING Partition=spot" + self.time_of("PreemptTime", {}) +
                 self.ends_in(minutes(5));
      self.release();
    });
    EXPECT_EQ(node.released,
              std::vector<std::string>{mode == "CANCEL"
                                           ? "Slurm job 42 is queued again"
                                           : "Slurm queues the job again once we have left"});
  }
}

TEST(SlurmSource, ReleaseLeavesAloneWhatWasCancelledOrIsQueuedAlready) {
  for (const std::string what : {"Restarts=0 Reason=None", "Restarts=1 Reason=None"}) {
    SlurmNode node;
    node.job = "JobId=42 JobState=COMPLETING " + what;
    node.play(nothing, [](SlurmNode& self) { self.release(); });
    for (const std::string& words : node.asked) EXPECT_NE(words, "scontrol requeue 42 ");
    EXPECT_EQ(node.released.size(), 1U);
  }
}

TEST(SlurmSource, ReleaseSaysWhyItCouldNot) {
  SlurmNode node;
  node.trouble = "slurm_load_jobs error: Invalid job id specified\n";
  node.play(nothing, [](SlurmNode& self) {
    self.release();
    self.hangs = true;
    self.release();
  });
  EXPECT_EQ(node.released,
            (std::vector<std::string>{
                "see to it that Slurm queues job 42 again: 'scontrol show job -o 42' exited with "
                "1: slurm_load_jobs error: Invalid job id specified",
                "see to it that Slurm queues job 42 again: 'scontrol show job -o 42' did not end "
                "within 5 s"}));
}

}  // namespace
}  // namespace outlast::notice
