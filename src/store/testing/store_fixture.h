#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/testing/store_maker.h"
#include "sys/threads.h"
#include "sys/world.h"

// What the tests of the suite have in common.
namespace outlast::store::testing {

class StoreSuite : public ::testing::TestWithParam<StoreMaker> {
 protected:
  // Runs `body`, unless the maker has named this test as a deviation.
  static void on_store(const StoreMaker::Body& body) {
    const std::string full = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string test = full.substr(0, full.find('/'));
    for (const Deviation& deviation : GetParam().deviations) {
      if (deviation.test == test) GTEST_SKIP() << GetParam().name << ": " << deviation.why;
    }
    GetParam().run(body);
  }

  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
  template <typename T>
  static std::string why(const Result<T>& result) {
    return result ? "it worked" : result.error().to_string();
  }

  // The new version; empty, and a failure of the test, if it did not work.
  static std::string put(ObjectStore& store, const std::string& key, std::string_view text,
                         const WriteIf& condition = WriteIf::always()) {
    const Result<std::string> version = store.put(key, as_bytes(text), condition, {});
    EXPECT_TRUE(version) << why(version);
    EXPECT_NE(version.value_or(""), "") << key;
    return version.value_or("");
  }
  static Result<std::string> get(ObjectStore& store, const std::string& key,
                                 const GetOptions& options = {}) {
    std::string text;
    const auto sink = [&](const ObjectInfo& object, BytesView piece) -> Result<void> {
      EXPECT_EQ(object.key, key);
      EXPECT_FALSE(piece.empty());
      text += as_text(piece);
      return {};
    };
    OUTLAST_TRY(store.get(key, options, sink, {}));
    return text;
  }
  static std::string read(ObjectStore& store, const std::string& key,
                          const GetOptions& options = {}) {
    const Result<std::string> text = get(store, key, options);
    EXPECT_TRUE(text) << why(text);
    return text.value_or("(unreadable)");
  }
  // What a read that must do nothing is given.
  static Result<void> ignore(const ObjectInfo& /*object*/, BytesView /*piece*/) { return {}; }

  static std::string random_text(Random& random, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random.next() & 0xffU);
    return text;
  }

  struct Listing {
    std::vector<std::string> keys = {};
    std::vector<std::string> folders = {};
    std::vector<ObjectInfo> objects = {};
  };
  // All pages.
  static Listing list(ObjectStore& store, ListOptions options = {}) {
    Listing listing;
    do {
      const Result<ListPage> page = store.list(options, {});
      EXPECT_TRUE(page) << why(page);
      if (!page) break;
      EXPECT_LE(page->objects.size() + page->folders.size(), options.page_max);
      for (const ObjectInfo& object : page->objects) {
        listing.keys.push_back(object.key);
        listing.objects.push_back(object);
      }
      for (const std::string& folder : page->folders) listing.folders.push_back(folder);
      if (page->next == options.page_token && !page->next.empty()) {
        ADD_FAILURE() << "the pages go in circles";
        break;
      }
      options.page_token = page->next;
    } while (!options.page_token.empty() && !HasFailure());
    return listing;
  }

  // Runs `body(i)` on as many threads, and waits for all.
  static void on_threads(sys::World& world, std::size_t count,
                         const std::function<void(std::size_t)>& body) {
    std::vector<std::unique_ptr<sys::Thread>> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.push_back(world.threads.spawn("racer" + std::to_string(i),
                                            [&body, i](const std::stop_token&) { body(i); }));
    }
    for (const auto& thread : threads) thread->join();
  }

  // Few by default; OUTLAST_RACE_ROUNDS in the environment for a thorough look.
  static std::size_t race_rounds(sys::World& world) {
    const std::optional<std::string> text = world.environment.get("OUTLAST_RACE_ROUNDS");
    std::size_t rounds = 5;
    if (text) std::from_chars(text->data(), text->data() + text->size(), rounds);
    return rounds;
  }
};

// Where racers wait for each other, so that each round is a race. Thread-safe.
class StartingLine {
 public:
  StartingLine(sys::Threads& threads, std::size_t racers)
      : monitor_(threads.make_monitor()), racers_(racers) {}
  void wait() {
    const std::unique_lock lock(*monitor_);
    const std::uint64_t round = round_;
    if (++waiting_ == racers_) {
      waiting_ = 0;
      ++round_;
      monitor_->notify_all();
    }
    while (round_ == round) (void)monitor_->wait({});
  }

 private:
  std::unique_ptr<sys::Monitor> monitor_;  // guards the rest
  const std::size_t racers_;
  std::size_t waiting_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace outlast::store::testing
