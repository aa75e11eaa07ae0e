// A machine loses its power at every single call into its disk, and the store in its folder must
// have everything that it acknowledged, and nothing by halves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "sim/simulation.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"a/b/c", "a/b/d", "top", "big", "a"};

// What a key holds: nothing, or a text, in a version where it is known.
struct Held {
  std::optional<std::string> text = {};
  std::string version = {};
};

std::optional<std::string> content_of(ObjectStore& store, const std::string& key) {
  std::string text;
  const auto info = store.get(key, {},
                              [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                text += as_text(piece);
                                return {};
                              },
                              {});
  if (!info) return std::nullopt;
  return text;
}

// An upload whose writer died.
struct Unfinished {
  std::string key = {};
  std::string text = {};
  UploadPlan plan = {};
  Secret<std::string> token = {};

  std::string_view part(std::uint64_t index) const {
    return std::string_view(text).substr(index * plan.part_bytes, plan.bytes_of(index));
  }
};

// Writes in every way there is, and notes what is to come before and what was said after each.
class Writer {
 public:
  explicit Writer(ObjectStore& store) : store_(store) {}

  std::map<std::string, Held>& acknowledged() { return acknowledged_; }
  std::map<std::string, std::vector<std::optional<std::string>>>& attempted() { return attempted_; }
  const std::optional<Unfinished>& unfinished() const { return unfinished_; }

  void run() {
    put("a/b/c", WriteIf::absent());
    put("a/b/c", WriteIf::absent());  // lost
    put("a/b/d", WriteIf::always());
    put("a/b/c", WriteIf::always());
    put("a/b/c", WriteIf::version_is(acknowledged_["a/b/c"].version));
    upload("big", WriteIf::absent());
    put("top", WriteIf::always());
    upload("big", WriteIf::version_is(acknowledged_["big"].version));
    upload("big", WriteIf::always());
    remove("a/b/d");
    remove("top");
    put("top", WriteIf::absent());
    remove("a/b/c");
    put("a", WriteIf::absent());  // was a folder
    remove("a");
    put("a/b/c", WriteIf::always());  // is one again
  }

 private:
  std::string text(const std::string& key) {
    // Several pieces on the disk, so that it can be torn.
    return fmt::format("{} for {}, {}", ++count_, key, std::string(50, 'x'));
  }
  void put(const std::string& key, const WriteIf& condition) {
    const std::string bytes = text(key);
    attempted_[key].emplace_back(bytes);
    const auto version = store_.put(key, as_bytes(bytes), condition, {});
    if (version) acknowledge(key, {.text = bytes, .version = *version});
  }
  void upload(const std::string& key, const WriteIf& condition) {
    const std::string bytes = text(key);
    attempted_[key].emplace_back(bytes);
    const UploadPlan plan{.size = bytes.size(), .part_bytes = 20, .condition = condition};
    const auto upload = store_.start_upload(key, plan, {});
    if (!upload) return;
    unfinished_ = {.key = key, .text = bytes, .plan = plan, .token = (*upload)->token()};
    for (std::uint64_t i = 0; i < plan.part_count(); ++i) {
      if (!(*upload)->put_part(i, as_bytes(unfinished_->part(i)), {})) return;
    }
    const auto version = (*upload)->complete({});
    unfinished_.reset();
    if (version) acknowledge(key, {.text = bytes, .version = *version});
  }
  void remove(const std::string& key) {
    attempted_[key].emplace_back(std::nullopt);
    if (store_.remove(key, {})) acknowledge(key, {});
  }
  void acknowledge(const std::string& key, Held held) {
    acknowledged_[key] = std::move(held);
    attempted_[key].clear();
  }

  ObjectStore& store_;
  int count_ = 0;
  std::optional<Unfinished> unfinished_;
  std::map<std::string, Held> acknowledged_;
  std::map<std::string, std::vector<std::optional<std::string>>> attempted_;  // since then
};

DirectoryStore open_store(sys::World& world) {
  return {{.files = world.files, .clock = world.clock, .random = world.random.fork()},
          "/store/root"};
}

void check(ObjectStore& store, Writer& writer) {
  std::set<std::string> there;
  for (const std::string_view name : kKeys) {
    const std::string key(name);
    const std::optional<std::string> found = content_of(store, key);
    if (found) there.insert(key);
    const Held& held = writer.acknowledged()[key];
    bool expected = found == held.text;
    if (expected && found) {
      EXPECT_EQ(store.head(key, {})->version, held.version) << key;
    }
    for (const auto& attempt : writer.attempted()[key]) expected = expected || found == attempt;
    EXPECT_TRUE(expected) << key << " holds " << found.value_or("(nothing)")
                          << ", acknowledged was " << held.text.value_or("(nothing)");
  }
  std::set<std::string> listed;
  if (const auto page = store.list({}, {})) {
    for (const ObjectInfo& object : page->objects) listed.insert(object.key);
  }
  EXPECT_EQ(listed, there);
}

// The next writer believes what the store says of the parts that it has.
void go_on(ObjectStore& store, const Unfinished& unfinished) {
  const auto upload = store.resume_upload(unfinished.key, unfinished.plan, unfinished.token, {});
  if (!upload) return;
  const std::vector<std::uint64_t> stored = (*upload)->stored_parts();
  for (std::uint64_t i = 0; i < unfinished.plan.part_count(); ++i) {
    if (std::find(stored.begin(), stored.end(), i) != stored.end()) continue;
    ASSERT_TRUE((*upload)->put_part(i, as_bytes(unfinished.part(i)), {}));
  }
  if ((*upload)->complete({})) {
    EXPECT_EQ(content_of(store, unfinished.key), unfinished.text);
  } else {
    EXPECT_TRUE((*upload)->abort({}));
  }
}

// A history that is cut off at this call; false once there is no such call.
bool history(std::uint64_t seed, std::uint64_t crash_at) {
  sim::Simulation simulation({.seed = seed});
  sim::Machine& machine = simulation.add_machine("m1");
  bool finished = false;
  const sim::Outcome outcome = simulation.run([&] {
    std::unique_ptr<Writer> writer;
    machine.boot(
        [&](sys::World& world) {
          DirectoryStore store = open_store(world);
          writer = std::make_unique<Writer>(store);
          writer->run();
          finished = true;
        },
        {.crash_at_call = crash_at});
    ASSERT_TRUE(machine.wait_until_off({}));
    machine.boot(
        [&](sys::World& world) {
          DirectoryStore store = open_store(world);
          check(store, *writer);
          if (writer->unfinished()) go_on(store, *writer->unfinished());
          // And it goes on: locks and drafts of the dead are in nobody's way.
          for (const char* key : {"a", "a/b/c", "top"}) ASSERT_TRUE(store.remove(key, {}));
          for (const char* key : {"a/b/c", "top"}) {
            const auto made = store.put(key, as_bytes("new"), WriteIf::absent(), {});
            EXPECT_TRUE(made) << made.error().to_string();
          }
        },
        {});
    ASSERT_TRUE(machine.wait_until_off({}));
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return !finished;
}

TEST(DirectoryCrash, NothingAcknowledgedIsLostAndNothingIsSeenByHalves) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::uint64_t at = 1;
    while (history(seed, at) && !HasFailure()) ++at;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", call " << at;
    EXPECT_GT(at, 200U);
  }
}

}  // namespace
}  // namespace outlast::store
