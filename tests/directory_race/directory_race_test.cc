// Several real processes share a folder as a store, and some of them are killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "sys/process.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

constexpr int kRounds = 40;
constexpr int kRacers = 4;

class Racer {
 public:
  Racer(sys::World& world, const std::string& folder, const std::string& task) {
    sys::ProcessSpec spec;
    spec.argv = {OUTLAST_DIRECTORY_RACE_PROBE, folder, task};
    spec.out.target = sys::Output::Sink([this](std::string_view text) { out_ += text; });
    spec.err.target = sys::Output::Sink([this](std::string_view text) { err_ += text; });
    auto process = world.processes.spawn(std::move(spec));
    EXPECT_TRUE(process) << process.error().to_string();
    if (process) process_ = *std::move(process);
  }
  void kill() { EXPECT_TRUE(process_->signal(SIGKILL)); }
  // How many rounds it won.
  int wait() {
    const auto end = process_->wait({});
    EXPECT_TRUE(end && *end == sys::ExitStatus(sys::Exited{.code = 0})) << err_;
    return out_.empty() ? 0 : std::stoi(out_);
  }
  void wait_for_the_end() { EXPECT_TRUE(process_->wait({})); }

 private:
  std::string out_;
  std::string err_;
  std::unique_ptr<sys::Process> process_;
};

std::string read(ObjectStore& store, const std::string& key) {
  std::string text;
  const auto info = store.get(key, {},
                              [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                text += as_text(piece);
                                return {};
                              },
                              {});
  return info ? text : info.error().to_string();
}

TEST(DirectoryRace, ProcessesShareAFolderAndTheDeadAreInNobodysWay) {
  sys::testing::real_world().run([](sys::World& world, const std::string& scratch) {
    DirectoryStore store(
        {.files = world.files, .clock = world.clock, .random = world.random.fork()}, scratch);
    ASSERT_TRUE(store.put("counter", as_bytes("0"), {}, {}));
    std::vector<std::unique_ptr<Racer>> victims;
    for (int i = 0; i < 2; ++i) {
      victims.push_back(std::make_unique<Racer>(world, scratch, "forever"));
    }
    std::vector<std::unique_ptr<Racer>> racers;
    for (int i = 0; i < kRacers; ++i) {
      racers.push_back(std::make_unique<Racer>(world, scratch, std::to_string(kRounds)));
    }
    int won = racers[0]->wait();
    // In the middle of whatever they do, with a lock perhaps.
    for (const auto& victim : victims) victim->kill();
    for (std::size_t i = 1; i < racers.size(); ++i) won += racers[i]->wait();
    for (const auto& victim : victims) victim->wait_for_the_end();
    EXPECT_EQ(won, kRounds);
    EXPECT_EQ(read(store, "counter"), std::to_string(kRounds * kRacers));
    const auto rounds = store.list({.prefix = "round/"}, {});
    ASSERT_TRUE(rounds);
    EXPECT_EQ(rounds->objects.size(), static_cast<std::size_t>(kRounds));
    for (int i = 0; i < 64; ++i) {
      EXPECT_TRUE(store.put("noise/" + std::to_string(i), as_bytes("after"), {}, {}));
    }
  });
}

}  // namespace
}  // namespace outlast::store
