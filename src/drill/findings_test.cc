#include "drill/findings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

// Two machines, of which the first had a notice after ten steps and saved at once.
struct Rig {
  std::vector<LifeRecord> records = std::vector<LifeRecord>(2);
  std::optional<Comparison> comparison = {};

  Rig() {
    LifeRecord& first = records[0];
    first.life = {.number = 1, .training = 0, .ended = 12, .outcome = "left"};
    first.life.injections = {{.at = 10, .notice_time = 3, .heard = 10.1}};
    first.life.saves = {{.at = 11, .checkpoint = 5, .seconds = 0.1, .written = 10.5}};
    first.newest_written = 10.5;
    print(first, 1, 10, 0);
    LifeRecord& second = records[1];
    second.life = {.number = 2, .began = 12, .training = 12, .ended = 25, .outcome = "done"};
    second.life.restored = Life::Restored{.checkpoint = 5};
    print(second, 11, 20, 12);
  }
  static void print(LifeRecord& record, std::uint64_t first, std::uint64_t last, double from) {
    record.samples.clear();
    for (std::uint64_t step = first; step <= last; ++step) {
      record.samples.push_back({.at = from + static_cast<double>(step - first), .step = step});
    }
  }
  std::vector<Finding> all() const {
    const StepScale scale = find_scale(std::vector{&records[0].samples, &records[1].samples});
    Report report;
    report.notice_time = 3;
    report.disturbed = measure(records, scale);
    report.comparison = comparison;
    return find_out(report, records, scale);
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const Finding& finding : all()) ids.push_back(finding.id);
    return ids;
  }
};
using Ids = std::vector<std::string>;

TEST(Findings, ThereAreNoneOfATrainerThatDoesAllRight) {
  EXPECT_EQ(Rig().ids(), Ids());
}

TEST(Findings, WhoBeginsAnewDoesNotResume) {
  Rig rig;
  Rig::print(rig.records[1], 1, 20, 12);
  ASSERT_EQ(rig.ids(), Ids{"does-not-resume"});
  EXPECT_EQ(rig.all()[0].evidence[0],
            "machine 2 was given checkpoint 5, written after step 10, and began with step 1");
  Rig by_files;
  by_files.records[1].started_over = "it started over";
  EXPECT_EQ(by_files.ids(), Ids{"does-not-resume"});
}

TEST(Findings, WhoWasGivenTheVeryFirstStateMayPrintItsFirstStepAgain) {
  Rig rig;
  rig.records[0].life.saves[0].written = 0.5;
  Rig::print(rig.records[1], 1, 20, 12);
  EXPECT_EQ(rig.ids(), Ids());
}

TEST(Findings, AFailureAfterARestoreIsTold) {
  Rig rig;
  rig.records[1].life.outcome = "failed";
  rig.records[1].has_trainer_failed = true;
  rig.records[1].trainer_exit = "exit code 1";
  rig.records[1].last_words = {"Traceback", "KeyError: 'optimizer'"};
  ASSERT_EQ(rig.ids(), Ids{"crashes-on-resume"});
  EXPECT_EQ(rig.all()[0].evidence.back(), "KeyError: 'optimizer'");
  rig.records[1].life.restored.reset();
  EXPECT_EQ(rig.ids(), Ids{"fails"});
  rig.records[1].was_hung = true;
  EXPECT_EQ(rig.ids(), Ids{"hangs-on-resume"});
}

TEST(Findings, HalfAFileUnderAFinalNameIsTorn) {
  Rig rig;
  rig.records[0].torn = {"checkpoints/last.pt, which has no end record yet"};
  ASSERT_EQ(rig.ids(), Ids{"torn-files"});
  EXPECT_EQ(rig.all()[0].evidence[0],
            "machine 1 left checkpoints/last.pt, which has no end record yet");
  rig.records[0].torn.clear();
  rig.records[0].written_in_place = {"last.pt"};
  EXPECT_EQ(rig.ids(), Ids{"torn-files"});
}

TEST(Findings, WhoWasAskedToLeaveAndStayedIgnoresIt) {
  Rig rig;
  rig.records[0].asked_to_leave = 10.2;
  EXPECT_EQ(rig.ids(), Ids());  // it left
  rig.records[0].was_stopped = true;
  rig.records[0].trainer_ended = 12;
  ASSERT_EQ(rig.ids(), Ids{"ignores-sigterm"});
  EXPECT_EQ(rig.all()[0].evidence[0],
            "machine 1: SIGTERM at 10.2s, and it still ran 1.8s later, at the last moment");
  // Who is in the middle of a save is slow, not deaf.
  rig.records[0].torn = {"last.pt, which has no end record yet"};
  EXPECT_EQ(rig.ids(), (Ids{"torn-files", "too-slow-for-notice"}));
  Rig ignoring;
  ignoring.records[0].ignores_sigterm = true;
  EXPECT_EQ(ignoring.ids(), Ids{"ignores-sigterm"});
  // It takes snapshots, and was asked without a signal.
  ignoring.records[0].asked_to_leave = 10.2;
  EXPECT_EQ(ignoring.ids(), Ids());
}

TEST(Findings, ALateNoticeIsNobodysFault) {
  Rig rig;
  rig.records[0].life.injections[0].trouble = Trouble::kTooLate;
  rig.records[0].asked_to_leave = 10.2;
  rig.records[0].was_killed = true;
  rig.records[0].life.outcome = "gone";
  EXPECT_EQ(rig.ids(), Ids());
}

TEST(Findings, AMachineThatIsGoneBeforeTheCommitHadTooLittleTime) {
  Rig rig;
  rig.records[0].was_killed = true;
  rig.records[0].trainer_ended = 11;
  rig.records[0].life.outcome = "gone";
  EXPECT_EQ(rig.ids(), Ids{"too-slow-for-notice"});
  rig.records[0].life.injections[0].heard.reset();
  EXPECT_EQ(rig.ids(), Ids{"notice-not-heard"});
}

TEST(Findings, ADifferenceIsTheOrdersOnlyIfTheTrainerRepeatsItself) {
  Rig rig;
  rig.comparison =
      Comparison{.differences = {"a differs"}, .is_repeatable = true, .first_other_step = 11};
  ASSERT_EQ(rig.ids(), Ids{"order-shifts"});
  EXPECT_EQ(rig.all()[0].evidence[0], "the printed values differ from step 11 on");
  rig.comparison->is_repeatable = false;
  EXPECT_EQ(rig.ids(), Ids{"not-repeatable"});
  rig.comparison->is_repeatable = true;
  Rig::print(rig.records[1], 1, 20, 12);
  EXPECT_EQ(rig.ids(), Ids{"does-not-resume"});
}

TEST(Findings, MostOfTheWorkInNoFileIsTooRarely) {
  Rig rig;
  rig.records.push_back(rig.records[1]);
  rig.records[1].life.outcome = "gone";
  rig.records[1].life.number = 2;
  rig.records[2].life.number = 3;
  rig.records[0].newest_written.reset();
  rig.records[1].newest_written = 14;
  EXPECT_EQ(rig.ids(), Ids{"saves-too-rarely"});
  rig.records[0].newest_written = 11;
  rig.records[1].newest_written = 24;
  EXPECT_EQ(rig.ids(), Ids());
}

}  // namespace
}  // namespace outlast::drill
