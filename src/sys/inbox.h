#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::sys {

// A bounded queue of messages to one actor: how threads talk. Any number of senders; usually one
// receiver. Messages come out in the order in which they went in. Thread-safe.
template <typename Message>
class Inbox {
 public:
  Inbox(Threads& threads, std::size_t capacity)
      : monitor_(threads.make_monitor()), capacity_(capacity) {
    OUTLAST_CHECK(capacity > 0, "an inbox of capacity {}", capacity);
  }

  // Waits for room. kCancelled if `ctx` was stopped or the inbox is closed, kDeadlineExceeded if it
  // stayed full; the message was then not sent.
  Result<void> post(Message message, const CallContext& ctx) {
    std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone()) return gone();
    while (!closed_ && messages_.size() >= capacity_) {
      OUTLAST_TRY(woken(monitor_->wait(ctx), "post: the inbox stayed full"));
    }
    if (closed_) return closed();
    messages_.push_back(std::move(message));
    monitor_->notify_all();
    return {};
  }

  // False, at once, when there is no room or the inbox is closed.
  [[nodiscard]] bool try_post(Message message) {
    std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone() || closed_ || messages_.size() >= capacity_) return false;
    messages_.push_back(std::move(message));
    monitor_->notify_all();
    return true;
  }

  // The next message, waiting for one. What was posted before close() still arrives; then
  // kCancelled. A message that is already there wins over a passed deadline and over a stop.
  Result<Message> receive(const CallContext& ctx) {
    std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone()) return gone();
    while (messages_.empty()) {
      if (closed_) return closed();
      OUTLAST_TRY(woken(monitor_->wait(ctx), "receive: no message came"));
    }
    return take();
  }

  std::optional<Message> try_receive() {
    std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone() || messages_.empty()) return std::nullopt;
    return take();
  }

  // No more messages go in; senders and, once it is empty, receivers are told.
  void close() {
    std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone()) return;
    closed_ = true;
    monitor_->notify_all();
  }

 private:
  static Error closed() { return {ErrorCode::kCancelled, "the inbox is closed"}; }

  static Error gone() { return {ErrorCode::kCancelled, "this machine is gone"}; }

  Result<void> woken(Woken why, const char* what) const {
    if (why == Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped while waiting");
    if (why == Woken::kDeadline) return Error(ErrorCode::kDeadlineExceeded, what);
    return {};
  }

  Message take() {
    Message message = std::move(messages_.front());
    messages_.pop_front();
    monitor_->notify_all();
    return message;
  }

  std::unique_ptr<Monitor> monitor_;  // guards the rest
  const std::size_t capacity_;
  std::deque<Message> messages_;
  bool closed_ = false;
};

}  // namespace outlast::sys
