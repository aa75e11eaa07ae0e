#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "job/place_facts.h"
#include "notice/cloud_sources.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sim/sim_network.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/world.h"

// A simulated machine that listens to a cloud's metadata service, what is done to both, and what
// came of it.
namespace outlast::notice::testing {

// What the service does instead of answering well.
struct Trouble {
  std::string name = {};
  std::optional<sim::Fate> fate = {};
  std::optional<sys::HttpResponse> answer = {};  // instead of what the service would say
};

struct Heard {
  std::string source = {};  // "": what was heard before is withdrawn
  Duration left = {};       // at that moment
  std::string why = {};
};

struct Story {
  std::vector<Heard> notices = {};
  std::vector<Heard> hints = {};
  std::vector<std::string> logged = {};  // events
  std::vector<std::string> log = {};     // whole lines
  std::optional<job::PlaceFacts> place = {};
  std::vector<std::string> released = {};  // what each source did, or its error
  std::vector<std::string> requests = {};  // "GET /path", of the service

  int count(std::string_view event) const {
    return static_cast<int>(std::count(logged.begin(), logged.end(), event));
  }
  std::vector<std::string> sources() const { return names(notices); }
  std::vector<std::string> hint_sources() const { return names(hints); }

 private:
  static std::vector<std::string> names(const std::vector<Heard>& all) {
    std::vector<std::string> found;
    for (const Heard& one : all) found.push_back(one.source);
    return found;
  }
};

inline bool is_about(Duration value, Duration wanted) {
  const Duration off = value > wanted ? value - wanted : wanted - value;
  return off <= std::chrono::milliseconds(1500);  // a Date has whole seconds
}

class CloudScene {
 public:
  static constexpr Duration kGrace = std::chrono::seconds(30);

  // As make_cloud_sources() takes it.
  explicit CloudScene(std::string notice) : notice_(std::move(notice)) {}

  std::map<std::string, std::string, std::less<>> variables = {};  // of the program's environment
  std::map<std::string, std::string> files = {};                   // on the machine: its firmware
  sys::HttpHandler service = {};                                   // at `where`, if there is one
  std::string where = "http://169.254.169.254";
  const Trouble* trouble = nullptr;
  Duration clock_off = {};  // of the machine's wall clock

  void wait(Duration time) { (void)simulation_.clock().sleep_for(time, {}); }
  // By the clock of the service, which is right.
  WallTime now() { return simulation_.clock().wall(); }
  sim::SimNetwork& network() { return simulation_.network(); }
  // The attempt leaves: the program's sources are told at its end.
  void release() { releases_ = true; }
  // What the machine has heard so far.
  const Story& so_far() const { return story_; }
  bool is_over() const { return over_; }

  // The machine listens while `events` happen to it.
  Story play(const std::function<void()>& events) {
    sim::Machine& machine = simulation_.add_machine("m1");
    for (const auto& [name, value] : variables) machine.environment().variables[name] = value;
    const sim::Outcome outcome = simulation_.run([&] {
      for (const auto& [path, text] : files) {
        EXPECT_TRUE(sys::make_dirs(machine.files(), sys::parent_path(path)));
        EXPECT_TRUE(sys::write_file_atomically(machine.files(), path, as_bytes(text)));
      }
      machine.clock().jump(clock_off);
      serve();
      machine.boot([&](sys::World& world) { listen_to_it(world); }, {});
      events();
      over_ = true;
      EXPECT_TRUE(machine.wait_until_off({}));
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
    return story_;
  }

  // From now on there is somebody to ask.
  void serve() {
    network().set_hook([this](const std::string&, const sys::HttpRequest& request) {
      EXPECT_TRUE(request.direct) << request.url;
      return trouble != nullptr ? trouble->fate : std::nullopt;
    });
    if (!service) return;
    network().serve(where, [this](const sys::HttpServerRequest& request) {
      story_.requests.push_back(request.method + " " + request.target);
      return trouble != nullptr && trouble->answer ? *trouble->answer : service(request);
    });
  }

 private:
  class Sink : public LogSink {
   public:
    explicit Sink(Story& story) : story_(story) {}
    void write(LogRecord record) override {
      story_.logged.push_back(record.event);
      story_.log.push_back(format_log_json(record));
    }

   private:
    Story& story_;
  };

  void listen_to_it(sys::World& world) {
    Sink sink(story_);
    std::optional<NoticeBoard> board;
    board.emplace([&] {
      note(board->current(), story_.notices, world);
      note(board->hint(), story_.hints, world);
      story_.place = board->place();
    });
    auto sources = make_cloud_sources(notice_, world, Logger(sink), kGrace);
    ASSERT_TRUE(sources) << sources.error().to_string();
    NoticeWatch watch(world.threads, *board, *std::move(sources));
    while (!over_) (void)world.clock.sleep_for(std::chrono::milliseconds(500), {});
    if (!releases_) return;
    for (const Result<std::string>& done : watch.release({}, {})) {
      story_.released.push_back(done ? *done : done.error().to_string());
    }
  }

  static void note(const std::optional<Notice>& notice, std::vector<Heard>& heard,
                   sys::World& world) {
    Heard now;
    if (notice) {
      now = {.source = notice->source,
             .left = notice->ends - world.clock.mono_now(),
             .why = notice->why};
    }
    const bool is_same = heard.empty()
                             ? now.source.empty()
                             : heard.back().source == now.source && heard.back().why == now.why;
    if (!is_same) heard.push_back(now);
  }

  const std::string notice_;
  sim::Simulation simulation_{{.seed = 7}};
  Story story_;
  bool over_ = false;
  bool releases_ = false;
};

}  // namespace outlast::notice::testing
