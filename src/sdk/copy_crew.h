#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "sdk/copy_plan.h"

namespace outlast::sdk {

enum class CopyTo { kSnapshot, kMemory };

struct CopyJob {
  const CopyPlan* plan = nullptr;  // outlives the copying
  std::byte* snapshot = nullptr;   // only read if what it holds goes to memory
  CopyTo to = CopyTo::kSnapshot;
};

// Threads that stay, and copy when they are told to. Belongs to one thread, which may lend a hand.
class CopyCrew {
 public:
  // How many copy at most while their owner waits, itself among them; there is one at least who
  // copies while it does not. Fewer if the machine does not give as many.
  explicit CopyCrew(unsigned threads);
  ~CopyCrew();  // waits first
  CopyCrew(const CopyCrew&) = delete;
  CopyCrew& operator=(const CopyCrew&) = delete;

  // When all is copied and can be seen by everybody, whoever was the last calls `when_done`, which
  // must not throw, nor call us. Both wait first if there is a job already; copy() returns when all
  // is done, begin() at once.
  void copy(const CopyJob& job, std::function<void()> when_done = {});
  void begin(const CopyJob& job, std::function<void()> when_done);
  // Helps until all is copied, and `when_done` has returned.
  void wait();

 private:
  void start(const CopyJob& job, std::function<void()> when_done, bool wake_all);
  void work();
  void take_shares();
  void end_if_done();  // mutex_ is held

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  CopyJob job_;  // changes only while nobody is at it
  std::function<void()> when_done_;
  std::atomic<std::size_t> next_share_ = 0;
  unsigned wanted_ = 0;  // how many of the crew may still join
  unsigned at_it_ = 0;
  bool has_job_ = false;
  bool ends_ = false;
  std::vector<std::thread> crew_;
};

// How many threads copy unless somebody says: those that this process may use, 4 at most.
unsigned default_copy_threads();

}  // namespace outlast::sdk
