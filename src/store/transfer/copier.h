#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/transfer/adaptive_width.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::store {

// One thing to copy. The two functions are called on a worker, once.
struct Copy {
  std::function<Result<std::unique_ptr<Source>>(const sys::CallContext&)> open_source = {};
  std::function<std::unique_ptr<Target>()> make_target = {};
};

struct CopyProgress {
  std::uint64_t copies_ended = 0;
  std::uint64_t copies_added = 0;
  std::uint64_t bytes_copied = 0;    // moved now
  std::uint64_t bytes_resumed = 0;   // were there already, from an interrupted copy
  std::uint64_t bytes_known = 0;     // of all that was opened
  std::uint64_t copies_checked = 0;  // whose target compared its own checksum
};

struct CopierOptions {
  AdaptiveWidth::Limits width = {};
  std::uint64_t part_bytes = 8U << 20U;  // larger things go in parts of this size, or larger ones
};

// Copies many things at once, large ones in parallel parts, with as many workers as pay off and one
// part of memory for each. What it reads is checked against the source's checksum, and what it
// wrote against the target's, where they keep one. The first error stops everything. Owned by one
// thread, which adds and then finishes.
class Copier {
 public:
  Copier(sys::Threads& threads, sys::Clock& clock, CopierOptions options);
  ~Copier();

  // Waits while many copies are waiting already. Whatever stopped the others is returned here, too.
  Result<void> add(Copy copy, const sys::CallContext& ctx);
  // Until all is done; the totals. `watch` is called about ten times a second meanwhile.
  Result<CopyProgress> finish(const std::function<void(const CopyProgress&)>& watch,
                              const sys::CallContext& ctx);
  CopyProgress progress();

 private:
  struct Active;
  struct Work;

  void run_worker(unsigned lane, const std::stop_token& stop);
  // The next thing to do, waiting for it; nullopt when there will be none.
  std::optional<Work> next_work(unsigned lane, const std::stop_token& stop);
  std::optional<Work> take_part();
  // What the work moved, in bytes.
  Result<std::uint64_t> open(Copy& copy, Bytes& buffer, const sys::CallContext& ctx);
  Result<std::uint64_t> copy_whole(Source& source, Target& target, Bytes& buffer,
                                   const sys::CallContext& ctx);
  Result<std::uint64_t> copy_part(const Work& work, Bytes& buffer, const sys::CallContext& ctx);
  Result<void> finish_copy(Active& active, const sys::CallContext& ctx);
  bool all_is_done() const;

  sys::Clock& clock_;
  const CopierOptions options_;
  std::unique_ptr<sys::Monitor> monitor_;  // guards everything below
  std::deque<Copy> waiting_;
  // Large copies with parts that nobody has taken yet; shared with the workers that have the
  // others.
  std::deque<std::shared_ptr<Active>> active_;
  AdaptiveWidth width_;
  CopyProgress progress_;
  unsigned busy_ = 0;
  unsigned idle_ = 0;    // workers that wait for something to do
  bool closed_ = false;  // nothing is added any more
  std::optional<Error> failure_;
  std::stop_source stop_;  // of all requests, at the first failure
  std::vector<std::unique_ptr<sys::Thread>> workers_;
};

}  // namespace outlast::store
