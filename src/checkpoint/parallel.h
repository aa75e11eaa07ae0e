#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// Does one of the pieces of work; `worker` is the same for one piece after the other, and no two at
// once: an index for buffers that are kept between them.
using Piece =
    std::function<Result<void>(std::size_t index, std::size_t worker, const sys::CallContext& ctx)>;

// Who does it.
struct Crew {
  sys::Threads& threads;
  sys::Clock& clock;
  std::size_t workers = 1;
  std::function<void()> watch = {};  // called by the caller's thread, about ten times a second
};

// Does pieces 0 … count - 1, in order of their beginning, on threads that are called `name` and a
// number. The first error stops the others and is returned, as is the end of
// `ctx`; no piece is being done any more when this returns.
Result<void> do_in_parallel(const Crew& crew, const std::string& name, std::size_t count,
                            const Piece& piece, const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
