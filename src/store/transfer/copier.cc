#include "store/transfer/copier.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::store {
namespace {

constexpr std::size_t kWaitingMax = 2000;
constexpr Duration kWatchEvery = std::chrono::milliseconds(100);

std::uint64_t round_up(std::uint64_t value, std::uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

std::uint64_t part_bytes_for(std::uint64_t size, const PartBounds& bounds, std::uint64_t wanted) {
  const std::uint64_t least = size / bounds.parts_max + 1;
  return round_up(std::max({wanted, bounds.part_bytes_min, least}), bounds.part_granule);
}

Result<std::uint32_t> sum_part(Source& source, const UploadPlan& plan, std::uint64_t index,
                               const sys::CallContext& ctx) {
  std::uint32_t sum = 0;
  const auto add = [&](BytesView piece) -> Result<void> {
    sum = crc32c(piece, sum);
    return {};
  };
  OUTLAST_TRY(source.read_pieces(index * plan.part_bytes, plan.bytes_of(index), add, ctx));
  return sum;
}

}  // namespace

struct Copier::Active {
  struct Part {
    std::uint64_t index = 0;
    bool stored = false;  // only its checksum is wanted
  };

  std::unique_ptr<Source> source;
  std::unique_ptr<Target> target;
  UploadPlan plan;
  bool in_order = false;
  std::deque<Part> todo;
  std::vector<std::uint32_t> sums;  // by part; each worker writes its own
  std::uint64_t in_flight = 0;
  std::uint64_t left = 0;  // parts that are not done
};

struct Copier::Work {
  std::optional<Copy> copy;        // either this
  std::shared_ptr<Active> active;  // or a part of this
  Active::Part part;
};

Copier::Copier(sys::Threads& threads, sys::Clock& clock, CopierOptions options)
    : clock_(clock), options_(options), monitor_(threads.make_monitor()), width_(options.width) {
  for (unsigned lane = 0; lane < options_.width.most; ++lane) {
    workers_.push_back(
        threads.spawn(fmt::format("copy-{}", lane),
                      [this, lane](const std::stop_token& stop) { run_worker(lane, stop); }));
  }
}

Copier::~Copier() {
  stop_.request_stop();
}

Result<void> Copier::add(Copy copy, const sys::CallContext& ctx) {
  const std::unique_lock lock(*monitor_);
  while (waiting_.size() >= kWaitingMax && !failure_) {
    const sys::Woken woken = monitor_->wait(ctx);
    if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped");
    if (woken == sys::Woken::kDeadline) return Error(ErrorCode::kDeadlineExceeded, "too late");
  }
  if (failure_) return *failure_;
  waiting_.push_back(std::move(copy));
  ++progress_.copies_added;
  if (idle_ > 0) monitor_->notify_all();
  return {};
}

Result<CopyProgress> Copier::finish(const std::function<void(const CopyProgress&)>& watch,
                                    const sys::CallContext& ctx) {
  {
    const std::unique_lock lock(*monitor_);
    closed_ = true;
    monitor_->notify_all();
  }
  while (true) {
    if (watch) watch(progress());
    const sys::CallContext moment = ctx.until(saturating_add(clock_.mono_now(), kWatchEvery));
    const std::unique_lock lock(*monitor_);
    if (failure_) return *failure_;
    if (all_is_done()) return progress_;
    const sys::Woken woken = monitor_->wait(moment);
    if (woken == sys::Woken::kStopped) {
      return Error(ErrorCode::kCancelled, "stopped while copying");
    }
    if (woken == sys::Woken::kDeadline && moment.deadline == ctx.deadline) {
      return Error(ErrorCode::kDeadlineExceeded, "the copy took too long");
    }
  }
}

CopyProgress Copier::progress() {
  const std::unique_lock lock(*monitor_);
  return progress_;
}

bool Copier::all_is_done() const {
  return closed_ && waiting_.empty() && active_.empty() && busy_ == 0;
}

void Copier::run_worker(unsigned lane, const std::stop_token& stop) {
  const sys::CallContext ctx = {.stop = stop_.get_token()};
  Bytes buffer;
  while (std::optional<Work> work = next_work(lane, stop)) {
    const Result<std::uint64_t> moved =
        work->copy ? open(*work->copy, buffer, ctx) : copy_part(*work, buffer, ctx);
    const MonoTime now = clock_.mono_now();
    {
      const std::unique_lock lock(*monitor_);
      if (monitor_->caller_is_gone()) return;
      --busy_;
      const unsigned width = width_.width();
      if (moved) {
        width_.ended(*moved, now);
      } else if (!failure_) {
        failure_ = moved.error();
      }
      // Every waiter is woken by it, so that with small objects it would cost more than they do.
      if (failure_ || width_.width() > width || all_is_done()) monitor_->notify_all();
    }
    if (!moved) stop_.request_stop();
  }
}

std::optional<Copier::Work> Copier::next_work(unsigned lane, const std::stop_token& stop) {
  const std::unique_lock lock(*monitor_);
  while (true) {
    if (failure_ || all_is_done() || monitor_->caller_is_gone()) return std::nullopt;
    if (lane < width_.width()) {
      std::optional<Work> work = take_part();
      if (!work && !waiting_.empty()) {
        work.emplace().copy = std::move(waiting_.front());
        waiting_.pop_front();
        if (waiting_.size() == kWaitingMax / 2) monitor_->notify_all();  // there is room to add
      }
      if (work) {
        ++busy_;
        return work;
      }
    }
    const bool parked = lane >= width_.width();
    if (!parked) ++idle_;
    const sys::Woken woken = monitor_->wait({.stop = stop});
    if (!parked) --idle_;
    if (woken == sys::Woken::kStopped) return std::nullopt;
  }
}

std::optional<Copier::Work> Copier::take_part() {
  for (auto at = active_.begin(); at != active_.end(); ++at) {
    std::shared_ptr<Active> active = *at;
    if (active->in_order && active->in_flight > 0) continue;
    const Active::Part part = active->todo.front();
    active->todo.pop_front();
    ++active->in_flight;
    if (active->todo.empty()) active_.erase(at);
    return Work{.copy = std::nullopt, .active = std::move(active), .part = part};
  }
  return std::nullopt;
}

Result<std::uint64_t> Copier::open(Copy& copy, Bytes& buffer, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<Source> source, copy.open_source(ctx));
  std::unique_ptr<Target> target = copy.make_target();
  const std::string doing = fmt::format("copy {} to {}", source->name(), target->name());
  const PartBounds bounds = target->bounds();
  const std::uint64_t part_bytes = part_bytes_for(source->size(), bounds, options_.part_bytes);
  {
    const std::unique_lock lock(*monitor_);
    progress_.bytes_known += source->size();
  }
  if (source->size() <= part_bytes) {
    return copy_whole(*source, *target, buffer, ctx).while_doing(doing);
  }

  const auto active = std::make_shared<Active>();  // shared with the workers that copy its parts
  active->plan = {.size = source->size(), .part_bytes = part_bytes};
  active->in_order = bounds.in_order;
  auto stored = target->begin(active->plan, source->identity(), ctx);
  if (!stored) return stored.error().while_doing(doing);
  active->source = std::move(source);
  active->target = std::move(target);
  active->sums.resize(active->plan.part_count());
  std::vector<bool> is_stored(active->plan.part_count());
  std::vector<bool> is_summed(active->plan.part_count());
  std::uint64_t resumed = 0;
  for (const StoredPart& part : *stored) {
    is_stored[part.index] = true;
    is_summed[part.index] = part.crc32c.has_value();
    active->sums[part.index] = part.crc32c.value_or(0);
    resumed += active->plan.bytes_of(part.index);
  }
  for (std::uint64_t index = 0; index < active->plan.part_count(); ++index) {
    if (!is_summed[index]) active->todo.push_back({.index = index, .stored = is_stored[index]});
  }
  active->left = active->todo.size();
  if (active->left == 0) {
    OUTLAST_TRY(finish_copy(*active, ctx).while_doing(doing));
  }
  const std::unique_lock lock(*monitor_);
  progress_.bytes_resumed += resumed;
  if (!active->todo.empty()) active_.push_back(active);
  monitor_->notify_all();
  return 0;
}

Result<std::uint64_t> Copier::copy_whole(Source& source, Target& target, Bytes& buffer,
                                         const sys::CallContext& ctx) {
  buffer.resize(source.size());
  OUTLAST_TRY(source.read(buffer, 0, ctx));
  OUTLAST_TRY(source.check_unchanged());
  OUTLAST_TRY(target.put(buffer, ctx));
  const std::unique_lock lock(*monitor_);
  progress_.bytes_copied += source.size();
  ++progress_.copies_ended;
  return source.size();
}

Result<std::uint64_t> Copier::copy_part(const Work& work, Bytes& buffer,
                                        const sys::CallContext& ctx) {
  Active& active = *work.active;
  const std::uint64_t index = work.part.index;
  const std::uint64_t bytes = active.plan.bytes_of(index);
  const Result<std::uint32_t> sum =
      work.part.stored ? sum_part(*active.source, active.plan, index, ctx)
                       : active.target->copy_part(index, *active.source, buffer, ctx);
  Result<void> done = {};
  if (sum) {
    active.sums[index] = *sum;
  } else {
    done = sum.error();
  }
  bool last = false;
  {
    const std::unique_lock lock(*monitor_);
    --active.in_flight;
    last = done && --active.left == 0;
    if (done && !work.part.stored) progress_.bytes_copied += bytes;
    if (active.in_order) monitor_->notify_all();  // it may go on
  }
  if (last) done = finish_copy(active, ctx);
  if (!done) {
    return done.error().while_doing(
        fmt::format("copy {} to {}", active.source->name(), active.target->name()));
  }
  return bytes;
}

Result<void> Copier::finish_copy(Active& active, const sys::CallContext& ctx) {
  OUTLAST_TRY(active.source->check_unchanged());
  std::uint32_t whole = 0;
  for (std::uint64_t index = 0; index < active.plan.part_count(); ++index) {
    whole = crc32c_joined(whole, active.sums[index], active.plan.bytes_of(index));
  }
  const std::optional<std::uint32_t> expected = active.source->crc32c();
  if (expected && *expected != whole) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the bytes of {} do not match its checksum", active.source->name()));
  }
  OUTLAST_TRY_ASSIGN(const bool checked, active.target->finish(whole, ctx));
  const std::unique_lock lock(*monitor_);
  ++progress_.copies_ended;
  if (checked || expected) ++progress_.copies_checked;
  return {};
}

}  // namespace outlast::store
