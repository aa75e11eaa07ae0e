#include <fmt/core.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/check/checks.h"
#include "store/check/root_check.h"
#include "store/object_store.h"
#include "sys/threads.h"

namespace outlast::store::check {
namespace {

// Runs `body` for every writer at the same time, and waits for all.
void race(const Bench& bench, const std::function<void(unsigned)>& body) {
  std::vector<std::unique_ptr<sys::Thread>> threads;
  threads.reserve(bench.options.writers);
  for (unsigned writer = 0; writer < bench.options.writers; ++writer) {
    threads.push_back(
        bench.tools.threads.spawn(fmt::format("writer-{}", writer),
                                  [&body, writer](const std::stop_token&) { body(writer); }));
  }
  for (const auto& thread : threads) thread->join();
}

struct Tally {
  unsigned won = 0;
  unsigned unknown = 0;          // the answer was lost; what is stored tells
  std::optional<Error> failure;  // anything that is no outcome of a race
};

template <typename Value>
Tally count(const std::vector<Result<Value>>& outcomes, ErrorCode lost) {
  Tally tally;
  for (const Result<Value>& outcome : outcomes) {
    if (outcome) {
      ++tally.won;
    } else if (outcome.error().code() == ErrorCode::kUnknownOutcome) {
      ++tally.unknown;
    } else if (outcome.error().code() != lost) {
      tally.failure = outcome.error();
    }
  }
  return tally;
}

Error not_run() {
  return {ErrorCode::kCancelled, "the writer did not run"};
}

}  // namespace

Result<CheckFinding> create_race(const Bench& bench) {
  for (unsigned round = 0; round < bench.options.rounds; ++round) {
    const std::string key = bench.key(fmt::format("create-race/{}", round));
    std::vector<Result<std::string>> outcomes(bench.options.writers, not_run());
    race(bench, [&](unsigned writer) {
      outcomes[writer] = bench.store().put(key, as_bytes(fmt::format("writer {}", writer)),
                                           WriteIf::absent(), bench.ctx);
    });
    const Tally tally = count(outcomes, ErrorCode::kAlreadyExists);
    if (tally.failure) return *tally.failure;
    if (tally.won > 1 || tally.won + tally.unknown == 0) {
      return broken(fmt::format(
          "{} of {} writers that raced to create one object were told that they did (round {}): "
          "two "
          "machines could both believe that a job is theirs; do not use this store as a root",
          tally.won, bench.options.writers, round + 1));
    }
    OUTLAST_TRY_ASSIGN(const std::string stored, read_all(bench, key));
    for (unsigned writer = 0; writer < bench.options.writers; ++writer) {
      if (outcomes[writer] && stored != fmt::format("writer {}", writer)) {
        return broken(
            fmt::format("writer {} was told that it had created an object which holds '{}' (round "
                        "{}); do not use "
                        "this store as a root",
                        writer, stored, round + 1));
      }
    }
  }
  return good(fmt::format("{} writers, {} rounds: one winner each time", bench.options.writers,
                          bench.options.rounds));
}

Result<CheckFinding> replace_race(const Bench& bench) {
  const std::string key = bench.key("replace-race");
  OUTLAST_TRY_ASSIGN(std::string version,
                     bench.store().put(key, as_bytes("start"), WriteIf::always(), bench.ctx));
  for (unsigned round = 0; round < bench.options.rounds; ++round) {
    std::vector<Result<std::string>> outcomes(bench.options.writers, not_run());
    race(bench, [&](unsigned writer) {
      outcomes[writer] =
          bench.store().put(key, as_bytes(fmt::format("round {} writer {}", round, writer)),
                            WriteIf::version_is(version), bench.ctx);
    });
    const Tally tally = count(outcomes, ErrorCode::kConditionFailed);
    if (tally.failure) return *tally.failure;
    if (tally.won > 1 || tally.won + tally.unknown == 0) {
      return broken(
          fmt::format("{} of {} writers that raced to replace the same version of an object were "
                      "told that they "
                      "did (round {}): updates would be lost; do not use this store as a root",
                      tally.won, bench.options.writers, round + 1));
    }
    OUTLAST_TRY_ASSIGN(const ObjectInfo now, bench.store().head(key, bench.ctx));
    version = now.version;
  }
  return good(fmt::format("{} writers, {} rounds: one winner each time", bench.options.writers,
                          bench.options.rounds));
}

}  // namespace outlast::store::check
