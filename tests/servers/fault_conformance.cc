// A workload through the fault proxy (tests/servers/run --proxy SEED NAME -- …): connections break,
// answers are lost, bytes flip. Every call must end in the right state or with an honest error.
// Nothing acknowledged is lost, nothing is done twice, no wrong byte is given for a right one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/retrying_store.h"
#include "sys/posix_world.h"
#include "sys/threads.h"
#include "sys/world.h"
#include "tests/servers/fault_model.h"
#include "tests/servers/known_servers.h"
#include "tests/servers/test_store.h"

namespace outlast::store::testing {
namespace {

constexpr std::size_t kWriters = 4;
constexpr int kStepsEach = 120;
constexpr int kKeysEach = 6;

// Patient enough for storms, quick enough for a test.
RetryPolicy quick_policy() {
  return {.attempts_max = 15,
          .first_wait_max = std::chrono::milliseconds(5),
          .wait_max = std::chrono::milliseconds(100),
          .retry_after_max = std::chrono::milliseconds(20),
          .budget = 1'000'000};
}

std::string random_bytes(Random& random, std::size_t count) {
  std::string text(count, '\0');
  for (char& c : text) c = static_cast<char>(random.next() & 0xffU);
  return text;
}

// nullopt: it is not there.
Result<Content> read_whole(ObjectStore& store, const std::string& key) {
  std::string text;
  const Result<ObjectInfo> info = store.get(key, {},
                                            [&](const ObjectInfo&, BytesView piece) {
                                              text += as_text(piece);
                                              return Result<void>();
                                            },
                                            {});
  if (info) return Content(std::move(text));
  if (info.error().code() == ErrorCode::kNotFound) return Content();
  return info.error();
}

// The same, for as long as it takes: what is there once the faults have had their turn.
Content read_at_last(ObjectStore& store, const std::string& key) {
  for (int i = 0; i < 50; ++i) {
    if (const Result<Content> content = read_whole(store, key)) return *content;
  }
  ADD_FAILURE() << store.url_of(key) << " cannot be read at all";
  return std::nullopt;
}

class FaultConformance : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = TestStore::open(real_.world());
    ASSERT_TRUE(opened) << opened.error().to_string();
    opened_ = *std::move(opened);
    store_ = std::make_unique<RetryingStore>(opened_->store(), real_.world().clock,
                                             real_.world().random.fork(), quick_policy());
  }

  void on_writers(const std::function<void(std::size_t writer, Random& random)>& body) {
    std::vector<std::unique_ptr<sys::Thread>> threads;
    for (std::size_t i = 0; i < kWriters; ++i) {
      threads.push_back(real_.world().threads.spawn("writer", [&, i](const std::stop_token&) {
        Random random(i + 1);
        body(i, random);
      }));
    }
    for (const auto& thread : threads) thread->join();
  }

  // Half of all faults would go unnoticed if the calls just failed: most must succeed.
  void count(bool worked) {
    const MutexLock lock(mutex_);
    ++calls_;
    failures_ += worked ? 0 : 1;
  }
  void expect_most_worked() {
    const MutexLock lock(mutex_);
    EXPECT_LT(failures_ * 10, calls_) << failures_ << " of " << calls_ << " calls failed";
  }

  sys::RealWorld real_;
  std::unique_ptr<TestStore> opened_;
  std::unique_ptr<ObjectStore> store_;
  Mutex mutex_;
  int calls_ OUTLAST_GUARDED_BY(mutex_) = 0;
  int failures_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

// One writer's objects, and what it does with them.
class Writer {
 public:
  Writer(ObjectStore& store, std::string folder, Random& random,
         std::function<void(bool worked)> count)
      : store_(store), folder_(std::move(folder)), random_(random), count_(std::move(count)) {}

  void step() {
    const std::string key = fmt::format("{}/{} +%ü", folder_, random_.below(kKeysEach));
    const std::uint64_t draw = random_.below(100);
    if (draw < 40) return put(key);
    if (draw < 65) return get(key);
    if (draw < 75) return remove(key);
    if (draw < 85) return head(key);
    if (draw < 97) return list();
    upload(key);
  }

  void check_all() {
    for (const std::string& key : model_.keys()) {
      const Content content = read_at_last(store_, key);
      EXPECT_TRUE(model_.saw(key, content)) << key << model_.history(key);
    }
  }

 private:
  template <typename T>
  void note(const std::string& key, const Content& content, const Result<T>& result) {
    count_(static_cast<bool>(result));
    if (result) {
      model_.wrote(key, content);
      return;
    }
    EXPECT_TRUE(model_.did_not_write(key, content, result.error().code()))
        << result.error().to_string();
  }
  void expect_honest(const Error& error) {
    EXPECT_TRUE(is_honest(error.code())) << error.to_string();
  }

  void put(const std::string& key) {
    constexpr std::size_t kSizes[] = {0, 1, 2000, 70'000};
    const std::string text = random_bytes(random_, kSizes[random_.below(4)]);
    note(key, text, store_.put(key, as_bytes(text), WriteIf::always(), {}));
  }

  void get(const std::string& key) {
    const Result<Content> content = read_whole(store_, key);
    count_(static_cast<bool>(content));
    if (!content) return expect_honest(content.error());
    EXPECT_TRUE(model_.saw(key, *content)) << key << model_.history(key);
  }

  void remove(const std::string& key) { note(key, std::nullopt, store_.remove(key, {})); }

  void head(const std::string& key) {
    const Result<ObjectInfo> info = store_.head(key, {});
    const bool absent = !info && info.error().code() == ErrorCode::kNotFound;
    count_(info || absent);
    if (absent) {
      EXPECT_TRUE(model_.saw(key, std::nullopt)) << key << model_.history(key);
    } else if (!info) {
      expect_honest(info.error());
    }
  }

  void list() {
    std::vector<ObjectInfo> objects;
    ListOptions options{.prefix = folder_ + "/", .page_max = 2};
    do {
      const Result<ListPage> page = store_.list(options, {});
      count_(static_cast<bool>(page));
      if (!page) return expect_honest(page.error());
      objects.insert(objects.end(), page->objects.begin(), page->objects.end());
      options.page_token = page->next;
    } while (!options.page_token.empty());
    EXPECT_EQ(model_.saw_list(objects), "");
  }

  void upload(const std::string& key) {
    const std::uint64_t part =
        std::max<std::uint64_t>(store_.properties().part_bytes_min, 1U << 18U);
    const std::string text = random_bytes(random_, part + 1000);
    const UploadPlan plan{.size = text.size(), .part_bytes = part};
    auto upload = store_.start_upload(key, plan, {});
    count_(static_cast<bool>(upload));
    if (!upload) return expect_honest(upload.error());
    bool was_resumed = false;
    for (std::uint64_t i = 0; i < plan.part_count(); ++i) {
      const auto put = (*upload)->put_part(
          i, as_bytes(std::string_view(text).substr(i * part, plan.bytes_of(i))), {});
      count_(static_cast<bool>(put));
      if (!put) return expect_honest(put.error());
      // Some stores hold the last part back, because it would complete the object.
      if (i + 1 == plan.part_count() || !random_.chance(0.5)) continue;
      // As another process would go on.
      auto resumed = store_.resume_upload(key, plan, (*upload)->token(), {});
      count_(static_cast<bool>(resumed));
      if (!resumed) return expect_honest(resumed.error());
      EXPECT_GT((*resumed)->stored_parts().size(), i) << "a part was lost";
      upload = std::move(resumed);
      was_resumed = true;
    }
    const Result<std::string> version = (*upload)->complete({});
    if (!version && version.error().code() == ErrorCode::kFailed) {
      return count_(false);  // a part was damaged on its way, and the server refused the whole
    }
    note(key, text, version);
    if (was_resumed) verify(key, text);
  }

  // Of parts that another process sent, a store may know no checksum: who resumes an upload
  // compares that of the whole.
  void verify(const std::string& key, const std::string& text) {
    for (int i = 0; i < 50; ++i) {
      const Result<ObjectInfo> info = store_.head(key, {});
      if (!info) continue;
      if (info->crc32c.value_or(crc32c(as_bytes(text))) != crc32c(as_bytes(text))) {
        model_.is_damaged(key);
      }
      return;
    }
  }

  ObjectStore& store_;
  const std::string folder_;
  Random& random_;
  const std::function<void(bool)> count_;
  FaultModel model_;
};

TEST_F(FaultConformance, NothingIsLostAndNoByteIsWrong) {
  on_writers([&](std::size_t i, Random& random) {
    Writer writer(*store_, fmt::format("writer{}", i), random, [&](bool worked) { count(worked); });
    for (int step = 0; step < kStepsEach && !HasFailure(); ++step) writer.step();
    writer.check_all();
  });
  expect_most_worked();
}

TEST_F(FaultConformance, AReadIsRightOrAnError) {
  const std::string text = random_bytes(real_.world().random, 70'000);
  ASSERT_TRUE(store_->put("a", as_bytes(text), WriteIf::always(), {}));
  on_writers([&](std::size_t, Random&) {
    for (int i = 0; i < 60; ++i) {
      const Result<Content> content = read_whole(*store_, "a");
      count(static_cast<bool>(content));
      if (content) {
        EXPECT_TRUE(*content == text) << "wrong bytes";
      } else {
        EXPECT_TRUE(is_honest(content.error().code())) << content.error().to_string();
      }
    }
  });
  expect_most_worked();
}

// A commit log under faults: each entry belongs to whoever was told so.
TEST_F(FaultConformance, AnEntryBelongsToAtMostOneWriter) {
  constexpr int kEntries = 60;
  struct End {
    std::string mine = {};
    std::optional<ErrorCode> code = {};
  };
  std::vector<std::vector<End>> ends(kWriters, std::vector<End>(kEntries));
  on_writers([&](std::size_t i, Random& random) {
    for (int entry = 0; entry < kEntries; ++entry) {
      End& end = ends[i][static_cast<std::size_t>(entry)];
      end.mine = make_token(random, 20) + std::string(1000, 'x');
      const auto put =
          store_->put(fmt::format("log/{:03}", entry), as_bytes(end.mine), WriteIf::absent(), {});
      if (put) continue;
      end.code = put.error().code();
      EXPECT_TRUE(is_honest(*end.code) || *end.code == ErrorCode::kAlreadyExists)
          << put.error().to_string();
    }
  });
  for (std::size_t entry = 0; entry < kEntries; ++entry) {
    const Content is = read_at_last(*store_, fmt::format("log/{:03}", entry));
    int told = 0;
    for (const auto& writer : ends) {
      const End& end = writer[entry];
      told += end.code ? 0 : 1;
      if (!end.code) {
        EXPECT_TRUE(is == end.mine) << "entry " << entry << " was acknowledged";
      } else if (*end.code != ErrorCode::kUnknownOutcome) {
        EXPECT_FALSE(is == end.mine) << "entry " << entry << " was refused";
      }
    }
    EXPECT_LE(told, 1) << "entry " << entry << " has two owners";
  }
}

// A list that is read, extended and replaced if nobody else did: every extension counts once.
TEST_F(FaultConformance, AnUpdateIsNeitherLostNorDoubled) {
  constexpr int kUpdatesEach = 15;
  Mutex mutex;
  std::vector<std::string> sure;
  std::vector<std::string> surely_not;
  ASSERT_TRUE(store_->put("list", as_bytes(""), WriteIf::always(), {}));
  on_writers([&](std::size_t, Random& random) {
    for (int update = 0; update < kUpdatesEach; ++update) {
      std::string text;
      const auto info = store_->get("list", {},
                                    [&](const ObjectInfo&, BytesView piece) {
                                      text += as_text(piece);
                                      return Result<void>();
                                    },
                                    {});
      if (!info) {
        EXPECT_TRUE(is_honest(info.error().code())) << info.error().to_string();
        continue;
      }
      const std::string mine = make_token(random, 20);
      const auto put =
          store_->put("list", as_bytes(text + mine + "\n"), WriteIf::version_is(info->version), {});
      const MutexLock lock(mutex);
      if (put) {
        sure.push_back(mine);
      } else if (put.error().code() != ErrorCode::kUnknownOutcome) {
        EXPECT_TRUE(is_honest(put.error().code()) ||
                    put.error().code() == ErrorCode::kConditionFailed)
            << put.error().to_string();
        surely_not.push_back(mine);
      }
    }
  });
  const std::string all = read_at_last(*store_, "list").value_or("");
  for (const std::string& one : sure) {
    const std::size_t at = all.find(one);
    EXPECT_NE(at, std::string::npos) << "an acknowledged update was lost";
    if (at != std::string::npos) {
      EXPECT_EQ(all.find(one, at + 1), std::string::npos) << "doubled";
    }
  }
  for (const std::string& one : surely_not) {
    EXPECT_EQ(all.find(one), std::string::npos) << "a refused update was made";
  }
  EXPECT_FALSE(sure.empty());
}

// Runs last: proves that the tests above met what they were made for.
TEST_F(FaultConformance, ZFaultsHappened) {
  const auto path = real_.world().environment.get("OUTLAST_TEST_PROXY_REPORT");
  ASSERT_TRUE(path) << "start this through tests/servers/run --proxy SEED NAME -- …";
  std::ifstream report(*path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(report, line);) lines.push_back(line);
  EXPECT_GT(lines.size(), 100U);
  std::vector<std::string> faults = {
      "reset-before", "reset-in-request", "unavailable", "lost-answer", "truncated-answer",
      "stall",        "flip-request",     "late"};
  const auto server = real_.world().environment.get("OUTLAST_TEST_SERVER").value_or("");
  if (known_server(server).keeps_checksums) faults.emplace_back("flip-answer");
  for (const std::string& fault : faults) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                            [&](const std::string& line) {
                              return line.find(fmt::format(" {} ", fault)) != std::string::npos;
                            }))
        << "no " << fault;
  }
}

}  // namespace
}  // namespace outlast::store::testing
