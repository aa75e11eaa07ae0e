#include "trainers/fused/crew.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>

#include "sys/threads.h"

namespace outlast::trainers::fused {

Crew::Crew(sys::Threads& threads, unsigned workers) : monitor_(threads.make_monitor()) {
  for (unsigned worker = 1; worker < workers; ++worker) {
    others_.push_back(
        threads.spawn("crew", [this, worker](const std::stop_token& stop) { work(worker, stop); }));
  }
}

Crew::~Crew() = default;

bool Crew::take(std::size_t& piece) {
  if (next_ == count_) return false;
  piece = next_++;
  return true;
}

void Crew::work(std::size_t worker, const std::stop_token& stop) {
  std::unique_lock<sys::Monitor> lock(*monitor_);
  while (!stop.stop_requested()) {
    std::size_t piece = 0;
    if (!take(piece)) {
      if (monitor_->wait({.stop = stop}) == sys::Woken::kStopped) return;
      continue;
    }
    const Piece& doing = *piece_;
    lock.unlock();
    doing(piece, worker);
    lock.lock();
    if (--undone_ == 0) monitor_->notify_all();
  }
}

void Crew::run(std::size_t count, const Piece& piece) {
  if (others_.empty() || count == 1) {
    for (std::size_t i = 0; i < count; ++i) piece(i, 0);
    return;
  }
  std::unique_lock<sys::Monitor> lock(*monitor_);
  piece_ = &piece;
  next_ = 0;
  count_ = count;
  undone_ = count;
  monitor_->notify_all();
  std::size_t mine = 0;
  while (take(mine)) {
    lock.unlock();
    piece(mine, 0);
    lock.lock();
    --undone_;
  }
  while (undone_ > 0) (void)monitor_->wait({});
  piece_ = nullptr;
}

}  // namespace outlast::trainers::fused
