#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "sys/threads.h"

namespace outlast::trainers::fused {

// Threads that wait, without turning in circles, for pieces of work that come some hundred times a
// second. Confined to its owner, who works with them.
class Crew {
 public:
  // Of so many, the owner among them.
  Crew(sys::Threads& threads, unsigned workers);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  unsigned workers() const { return static_cast<unsigned>(others_.size()) + 1; }
  // Does pieces 0 to count - 1, in any order, and returns when all are done. `worker` is below
  // workers() and the same for no two pieces at once.
  using Piece = std::function<void(std::size_t piece, std::size_t worker)>;
  void run(std::size_t count, const Piece& piece);

 private:
  void work(std::size_t worker, const std::stop_token& stop);
  // The next piece, or none; locked.
  bool take(std::size_t& piece);

  std::unique_ptr<sys::Monitor> monitor_;  // guards the rest
  const Piece* piece_ = nullptr;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t undone_ = 0;
  std::vector<std::unique_ptr<sys::Thread>> others_;  // last: they go first
};

}  // namespace outlast::trainers::fused
