#include "notice/lifetime_source.h"

#include <fmt/core.h>

#include "base/time.h"
#include "base/units.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::notice {

void LifetimeSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  board.post(
      {.source = name(),
       .ends = saturating_add(began_, lifetime_),
       .why = fmt::format("machines of this kind end after {}", format_duration(lifetime_))});
  (void)clock_.sleep_until(kNever, ctx);
}

}  // namespace outlast::notice
