#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "drill/report.h"

// Drills that nobody ran: for the tests of the page, and for those who look at it.
namespace outlast::report::testing {

struct LifeShape {
  std::uint64_t number = 1;
  double began = 0;
  double trained = 20;           // seconds from the first progress to the trouble
  std::uint64_t first_step = 1;  // ten a second
};

// Started, restored if it is not the first, saved every eight seconds; nothing happened yet.
inline drill::Life made_life(const LifeShape& shape) {
  drill::Life life;
  life.number = shape.number;
  life.began = shape.began;
  life.training = shape.began + 0.6;
  life.progress = shape.began + 1.9;
  life.ended = *life.progress + shape.trained;
  life.first_step = shape.first_step;
  life.last_step = shape.first_step + static_cast<std::uint64_t>(shape.trained * 10);
  if (shape.number > 1) {
    life.restored = drill::Life::Restored{.checkpoint = shape.number * 3,
                                          .step = shape.first_step - 1,
                                          .bytes = 44'900'000,
                                          .fetched_bytes = 44'900'000};
  }
  for (double after = 8; after < shape.trained; after += 8) {
    life.saves.push_back({.at = *life.progress + after,
                          .checkpoint = shape.number * 3 + life.saves.size() + 1,
                          .step = shape.first_step + static_cast<std::uint64_t>(after * 10),
                          .bytes = 44'900'000,
                          .stored_bytes = 8'300'000,
                          .seconds = 0.41,
                          .why = life.saves.empty() ? "first" : "interval"});
  }
  return life;
}

// A notice is heard, the trainer saves, and the machine ends when the time is over.
inline void end_with_notice(drill::Life& life, double notice_time, double committed_after) {
  const double at = life.ended;
  life.injections.push_back({.trouble = drill::Trouble::kNotice,
                             .at = at,
                             .notice_time = notice_time,
                             .heard = at + 0.045,
                             .asked = at + 0.06,
                             .committed = at + committed_after,
                             .notice_to_committed = committed_after});
  life.saves.push_back({.at = at + committed_after,
                        .checkpoint = life.number * 3 + 3,
                        .step = life.last_step,
                        .bytes = 44'900'000,
                        .stored_bytes = 9'100'000,
                        .seconds = 0.6,
                        .why = "notice"});
  life.left = at + committed_after + 0.3;
  life.ended = at + notice_time;
  life.outcome = "left";
  life.lost_steps = 0;
  life.lost_seconds = 0;
  life.recovery = 5.2 + static_cast<double>(life.number % 3) * 0.7;
}

inline void end_with_kill(drill::Life& life, drill::Trouble trouble, std::uint64_t lost_steps) {
  life.injections.push_back({.trouble = trouble, .at = life.ended});
  life.outcome = "gone";
  life.lost_steps = lost_steps;
  life.lost_seconds = static_cast<double>(lost_steps) / 10;
  life.recovery = 4.4;
}

inline void end_done(drill::Life& life) {
  life.left = life.ended;
  life.outcome = "done";
}

inline drill::Report about_to_run() {
  drill::Report report;
  report.version = "0.1.0";
  report.job = "cifar10";
  report.command = "python3 train.py --epochs 10 --out checkpoints";
  report.source = "gce";
  report.notice_time = 6;
  report.began = WallTime(Duration(1'795'000'000'000'000'000));
  drill::Run alone;
  alone.lives.push_back(made_life({.number = 1, .trained = 100}));
  end_done(alone.lives.back());
  alone.seconds = alone.lives.back().ended;
  alone.training_seconds = 100;
  alone.outcome = "done";
  report.undisturbed = alone;
  return report;
}

inline void finish(drill::Report& report, std::string outcome) {
  drill::Run& run = report.disturbed;
  run.outcome = std::move(outcome);
  for (const drill::Life& life : run.lives) {
    run.seconds = life.ended;
    for (const drill::Save& save : life.saves) run.stored_bytes += save.stored_bytes;
  }
}

// So many lives, all but the last ended by a notice; nothing lost.
inline drill::Report passed_report(std::size_t lives = 6) {
  drill::Report report = about_to_run();
  double began = 0;
  std::uint64_t step = 1;
  const double trained = 100.0 / static_cast<double>(lives);
  for (std::size_t i = 1; i <= lives; ++i) {
    drill::Life life =
        made_life({.number = i, .began = began, .trained = trained, .first_step = step});
    if (i < lives) {
      end_with_notice(life, report.notice_time, 0.8 + static_cast<double>(i % 4) * 0.35);
    } else {
      end_done(life);
    }
    began = life.ended + 0.4;
    step = *life.last_step + 1;
    report.disturbed.lives.push_back(std::move(life));
  }
  finish(report, "done");
  report.comparison = drill::Comparison{.is_identical = true, .files = 14};
  report.expectations = {{.text = "lost<=0", .is_met = true, .found = "0 steps"},
                         {.text = "recovery<=90s", .is_met = true, .found = "6.6s"},
                         {.text = "identical", .is_met = true, .found = "14 files"}};
  report.is_passed = true;
  return report;
}

// A withdrawn notice, one that came too late, kills; a result that differs.
inline drill::Report failed_report() {
  drill::Report report = about_to_run();
  auto& lives = report.disturbed.lives;
  lives.push_back(made_life({.number = 1, .trained = 30}));
  const double withdrawn = lives.back().began + 12;
  lives.back().injections.push_back({.trouble = drill::Trouble::kWithdrawn,
                                     .at = withdrawn,
                                     .notice_time = 6,
                                     .heard = withdrawn + 0.05,
                                     .asked = withdrawn + 0.07,
                                     .committed = withdrawn + 1.1,
                                     .notice_to_committed = 1.1});
  end_with_notice(lives.back(), 6, 1.3);
  lives.push_back(made_life({.number = 2, .began = 38.5, .trained = 22, .first_step = 302}));
  end_with_kill(lives.back(), drill::Trouble::kKill, 61);
  lives.push_back(made_life({.number = 3, .began = 63, .trained = 26, .first_step = 462}));
  end_with_kill(lives.back(), drill::Trouble::kMidSave, 22);
  lives.push_back(made_life({.number = 4, .began = 91.5, .trained = 18, .first_step = 701}));
  const double late = lives.back().ended;
  lives.back().injections.push_back({.trouble = drill::Trouble::kTooLate,
                                     .at = late,
                                     .notice_time = 0.4,
                                     .heard = late + 0.05,
                                     .asked = late + 0.07});
  lives.back().ended = late + 0.4;
  lives.back().outcome = "gone";
  lives.back().lost_steps = 20;
  lives.back().lost_seconds = 2;
  lives.back().recovery = 4.9;
  lives.push_back(made_life({.number = 5, .began = 112.4, .trained = 14, .first_step = 861}));
  end_done(lives.back());
  finish(report, "done");
  report.comparison = drill::Comparison{
      .is_identical = false,
      .files = 14,
      .differences = {"checkpoints/model_10.pth: differs in 3 of 62 tensors, first layer1.0.weight",
                      "metrics.jsonl: differs from line 312 on"},
      .is_repeatable = true,
      .first_other_step = 302};
  report.findings = {
      {.id = "order-shifts",
       .sentence = "After a restore the data comes in another order.",
       .advice = "Save the state of the sampler and of the random generators with each checkpoint "
                 "(torch.get_rng_state(), random.getstate()), and load it again before the first "
                 "batch.",
       .evidence = {"undisturbed: step 302 loss=1.4182", "machine 2:   step 302 loss=1.4377"}},
      {.id = "ignores-sigterm",
       .sentence = "The trainer did not save when it was asked to.",
       .advice = "Handle SIGTERM: save, then exit.",
       .evidence = {
           "machine 4: asked at 1m51s, still training when the machine ended 330ms later"}}};
  report.expectations = {{.text = "lost<=0", .is_met = false, .found = "61 steps after machine 2"},
                         {.text = "recovery<=90s", .is_met = true, .found = "5.9s"},
                         {.text = "identical", .is_met = false, .found = "2 of 14 files differ"}};
  report.is_passed = false;
  return report;
}

// Hours of machines that end without a word, under a trainer that prints no steps; nothing to
// compare with, nothing expected, one finding.
inline drill::Report long_report() {
  drill::Report report = about_to_run();
  report.undisturbed.reset();
  report.source = "kill";
  report.notice_time = 0;
  double began = 0;
  constexpr std::size_t kLives = 15;
  for (std::size_t i = 1; i <= kLives; ++i) {
    const double trained = 900 + static_cast<double>(i * 37 % 11) * 120;
    drill::Life life = made_life({.number = i, .began = began, .trained = trained});
    std::erase_if(life.saves, [](const drill::Save& save) { return save.checkpoint % 40 != 0; });
    for (drill::Save& save : life.saves) save.step.reset();
    life.first_step.reset();
    life.last_step.reset();
    if (i < kLives) {
      end_with_kill(life, drill::Trouble::kKill, i * 97 % 300);
    } else {
      end_done(life);
    }
    life.lost_steps.reset();
    if (life.restored) life.restored->step.reset();
    began = life.ended + 45;
    report.disturbed.lives.push_back(std::move(life));
  }
  finish(report, "done");
  report.findings = {{.id = "torn-files",
                      .sentence = "A checkpoint was half written when the machine ended.",
                      .advice = "Write to another name, then rename."}};
  report.is_passed = true;
  return report;
}

// Strings from somebody who wants the page to do more than show them.
inline drill::Report hostile_report() {
  drill::Report report = failed_report();
  const std::string script = "<script>document.title='owned'</script>";
  const std::string image = "\"><img src=http://127.0.0.1:9/x onerror=alert(1)>";
  const std::string bytes = std::string("\xff\xfe\0\x1b[31m", 8) + "\xc0\xaf \u202Egnp.exe";
  report.job = "</title>" + script + bytes;
  report.command = script + " </code></dl>" + image + bytes + std::string(600, 'x');
  report.source = "gce'" + image;
  report.version = image;
  report.disturbed.lives[0].saves[0].why = "</title></svg>" + script;
  report.disturbed.lives[1].outcome = script;
  report.disturbed.lives[1].injections.clear();
  report.findings[0] = {.id = script,
                        .sentence = image + bytes + std::string(300, 'W'),
                        .advice = "</style><style>body{display:none}</style>" + script,
                        .evidence = {script, image, bytes, std::string(2000, 'e'), ""}};
  report.expectations[0] = {.text = script, .is_met = false, .found = image + bytes};
  report.comparison->differences.assign(200, "</ul>" + image);
  return report;
}

}  // namespace outlast::report::testing
