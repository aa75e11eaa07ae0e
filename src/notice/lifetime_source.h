#pragma once

#include <string>

#include "base/time.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::notice {

// A machine that is known to end by itself at a certain age (24 hours, a job's time limit): a
// notice from the beginning.
class LifetimeSource : public NoticeSource {
 public:
  LifetimeSource(sys::Clock& clock, MonoTime began, Duration lifetime)
      : clock_(clock), began_(began), lifetime_(lifetime) {}

  std::string name() const override { return "lifetime"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  sys::Clock& clock_;
  const MonoTime began_;
  const Duration lifetime_;
};

}  // namespace outlast::notice
