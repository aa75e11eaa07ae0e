// Every source on a simulated machine: what happens to it, and what the board then says.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/log.h"
#include "base/time.h"
#include "notice/file_source.h"
#include "notice/lifetime_source.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/signal_source.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class CountingSink : public LogSink {
 public:
  void write(LogRecord record) override { events.push_back(std::move(record.event)); }
  std::vector<std::string> events;
};

using Sources = std::vector<std::unique_ptr<NoticeSource>>;

// A program that listens until somebody has seen enough, and what is done to its machine meanwhile.
struct Scene {
  std::function<Sources(sys::World&, const Logger&)> sources;
  // Called after each change of what the board says.
  std::function<void(sim::Simulation&, sim::Machine&, const std::function<void(Duration)>& wait)>
      events;
};

struct Heard {
  Duration left = {};  // at that moment
  std::string source = {};
  std::string why = {};
  friend bool operator==(const Heard&, const Heard&) = default;
};

// All that the board said, one after the other; a source "" is a notice withdrawn.
std::vector<Heard> play(const Scene& scene, CountingSink& sink) {
  sim::Simulation simulation({.seed = 7});
  sim::Machine& machine = simulation.add_machine("m1");
  std::vector<Heard> heard;
  bool enough = false;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const Logger log(sink);
          std::optional<NoticeBoard> board;
          board.emplace([&] {
            const std::optional<Notice> notice = board->current();
            heard.push_back(notice ? Heard{.left = notice->ends - world.clock.mono_now(),
                                           .source = notice->source,
                                           .why = notice->why}
                                   : Heard{});
          });
          const NoticeWatch watch(world.threads, *board, scene.sources(world, log));
          while (!enough) (void)world.clock.sleep_for(milliseconds(500), {});
        },
        {});
    const auto wait = [&](Duration time) { (void)simulation.clock().sleep_for(time, {}); };
    wait(seconds(2));
    scene.events(simulation, machine, wait);
    wait(seconds(3));
    enough = true;
    EXPECT_TRUE(machine.wait_until_off({}));
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return heard;
}

Sources one(std::unique_ptr<NoticeSource> source) {
  Sources sources;
  sources.push_back(std::move(source));
  return sources;
}

bool is_about(Duration value, Duration wanted) {
  return value <= wanted && value > wanted - milliseconds(100);
}

Sources signals(sys::World& world, const Logger&) {
  auto source = SignalSource::make(world.own_signals, world.clock, seconds(30));
  EXPECT_TRUE(source) << source.error().to_string();
  return one(*std::move(source));
}

TEST(SignalSource, ASignalLeavesTheGraceAndTheNextDoesNotProlongIt) {
  CountingSink sink;
  const auto heard = play({.sources = signals,
                           .events =
                               [](sim::Simulation&, sim::Machine& machine, const auto& wait) {
                                 machine.signal(SIGTERM);
                                 wait(seconds(10));
                                 machine.signal(SIGTERM);
                                 wait(seconds(1));
                                 machine.signal(SIGINT);
                               }},
                          sink);
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_TRUE(is_about(heard[0].left, seconds(30)));
  EXPECT_EQ(heard[0].why, "SIGTERM, which leaves 30s");
  EXPECT_TRUE(is_about(heard[1].left, seconds(20)));
  EXPECT_TRUE(is_about(heard[2].left, seconds(19)));
}

TEST(SignalSource, WhoInterruptsTwiceDoesNotWantToWait) {
  CountingSink sink;
  const auto heard = play({.sources = signals,
                           .events =
                               [](sim::Simulation&, sim::Machine& machine, const auto& wait) {
                                 machine.signal(SIGINT);
                                 wait(seconds(1));
                                 machine.signal(SIGINT);
                               }},
                          sink);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_TRUE(is_about(heard[0].left, seconds(30)));
  EXPECT_TRUE(is_about(heard[1].left, seconds(0)));
}

TEST(LifetimeSource, SaysFromTheBeginningWhenItIsOver) {
  CountingSink sink;
  const auto heard = play({.sources =
                               [](sys::World& world, const Logger&) {
                                 return one(std::make_unique<LifetimeSource>(
                                     world.clock, world.clock.mono_now() - hours(1), hours(24)));
                               },
                           .events = [](sim::Simulation&, sim::Machine&, const auto&) {}},
                          sink);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(is_about(heard[0].left, hours(23)));
  EXPECT_EQ(heard[0].why, "machines of this kind end after 1d");
}

Sources file(sys::World& world, const Logger& log) {
  return one(std::make_unique<FileSource>(world.files, world.clock, log, "/preempt.txt",
                                          Duration(seconds(60))));
}

void write(sim::Machine& machine, const std::string& text) {
  ASSERT_TRUE(sys::write_file_atomically(machine.files(), "/preempt.txt", as_bytes(text)));
}

TEST(FileSource, AFileIsANoticeAndItsRemovalTakesItBack) {
  CountingSink sink;
  const auto heard = play({.sources = file,
                           .events =
                               [](sim::Simulation&, sim::Machine& machine, const auto& wait) {
                                 write(machine, "");
                                 wait(seconds(5));
                                 ASSERT_TRUE(machine.files().remove_file("/preempt.txt"));
                                 wait(seconds(5));
                                 write(machine, "90s\n");
                               }},
                          sink);
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_TRUE(is_about(heard[0].left, seconds(60)));
  EXPECT_EQ(heard[0].why, "'/preempt.txt' is there, which leaves 1m");
  EXPECT_EQ(heard[1], Heard());
  EXPECT_TRUE(is_about(heard[2].left, seconds(90)));
  EXPECT_EQ(heard[2].why, "'/preempt.txt' says 90s");
  EXPECT_TRUE(sink.events.empty());
}

TEST(FileSource, TakesWhateverIsInIt) {
  CountingSink sink;
  const auto heard =
      play({.sources = file,
            .events =
                [](sim::Simulation&, sim::Machine& machine, const auto& wait) {
                  for (const std::string& text :
                       {std::string("please go"), std::string(100'000, 'x'), std::string("-5s"),
                        format_rfc3339(machine.world().clock.wall_now() - hours(1)),
                        format_rfc3339(machine.world().clock.wall_now() + hours(1))}) {
                    write(machine, text);
                    wait(seconds(3));
                  }
                }},
           sink);
  ASSERT_EQ(heard.size(), 5U);
  for (const int i : {0, 1, 2}) EXPECT_TRUE(is_about(heard[i].left, seconds(60))) << i;
  EXPECT_LT(heard[3].left, seconds(-3500)) << "it is over already";
  EXPECT_GT(heard[4].left, seconds(3500));
  EXPECT_LT(heard[4].left, hours(1));
}

TEST(FileSource, SaysOnceThatItCannotLookAndGoesOn) {
  CountingSink sink;
  const auto heard =
      play({.sources = file,
            .events =
                [](sim::Simulation&, sim::Machine& machine, const auto& wait) {
                  machine.files().set_fault([](std::string_view, const std::string&) {
                    return std::optional<Error>(Error(ErrorCode::kFailed, "Input/output error"));
                  });
                  wait(seconds(10));
                  machine.files().set_fault({});
                  write(machine, "");
                }},
           sink);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(sink.events, (std::vector<std::string>{"notice.file_unreadable"}));
}

}  // namespace
}  // namespace outlast::notice
