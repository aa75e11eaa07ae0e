#include "checkpoint/parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::checkpoint {
namespace {

constexpr Duration kCrewWatchEvery = std::chrono::milliseconds(100);

class Run {
 public:
  Run(const Crew& crew, std::size_t count, const Piece& piece)
      : crew_(crew),
        piece_(piece),
        count_(count),
        running_(std::min(crew.workers, count)),
        monitor_(crew.threads.make_monitor()) {}

  Result<void> run(const std::string& name, const sys::CallContext& ctx) {
    std::vector<std::unique_ptr<sys::Thread>> workers;
    workers.reserve(running_);
    const std::size_t wanted = running_;
    for (std::size_t worker = 0; worker < wanted; ++worker) {
      workers.push_back(
          crew_.threads.spawn(fmt::format("{}-{}", name, worker),
                              [this, worker](const std::stop_token&) { run_worker(worker); }));
    }
    Result<void> done = wait(ctx);
    if (!done) stop_.request_stop();
    for (const auto& worker : workers) worker->join();
    return done;
  }

 private:
  Result<void> wait(const sys::CallContext& ctx) {
    while (true) {
      sys::CallContext moment = ctx;
      if (crew_.watch) {
        crew_.watch();
        moment = ctx.until(saturating_add(crew_.clock.mono_now(), kCrewWatchEvery));
      }
      const std::unique_lock lock(*monitor_);
      if (failure_) return *failure_;
      if (running_ == 0) return {};
      const sys::Woken woken = monitor_->wait(moment);
      if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped");
      if (woken == sys::Woken::kDeadline && moment.deadline == ctx.deadline) {
        return Error(ErrorCode::kDeadlineExceeded, "the deadline passed");
      }
    }
  }

  void run_worker(std::size_t worker) {
    const sys::CallContext ctx = {.stop = stop_.get_token()};
    Result<void> done = {};
    while (done) {
      const std::optional<std::size_t> index = take();
      if (!index) break;
      done = piece_(*index, worker, ctx);
    }
    const std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone()) return;
    if (!done && !failure_) failure_ = std::move(done).error();
    --running_;
    if (failure_ || running_ == 0) monitor_->notify_all();
  }

  std::optional<std::size_t> take() {
    const std::unique_lock lock(*monitor_);
    if (failure_ || stop_.stop_requested() || monitor_->caller_is_gone()) return std::nullopt;
    if (next_ == count_) return std::nullopt;
    return next_++;
  }

  const Crew& crew_;
  const Piece& piece_;
  const std::size_t count_;
  std::size_t running_;
  std::stop_source stop_;  // of all pieces, at the first failure

  std::unique_ptr<sys::Monitor> monitor_;  // guards the rest, and running_
  std::size_t next_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Result<void> do_in_parallel(const Crew& crew, const std::string& name, std::size_t count,
                            const Piece& piece, const sys::CallContext& ctx) {
  if (count == 0) return {};
  return Run(crew, count, piece).run(name, ctx);
}

}  // namespace outlast::checkpoint
