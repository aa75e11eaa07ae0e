#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/place_finder.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::notice {

// Finds out in which cloud we are, and then listens to what listens there. Nobody waits for it.
// Where there seems to be a cloud and none answers, it looks again, less and less often.
class AutoSource : public NoticeSource {
 public:
  AutoSource(sys::World& world, const Logger& log, Duration grace);

  std::string name() const override { return "auto"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;
  Result<std::string> release(const Departure& departure, const sys::CallContext& ctx) override;

 private:
  void watch_cloud(Cloud cloud, NoticeBoard& board);

  sys::World& world_;
  const Logger log_;
  const Duration grace_;
  Mutex mutex_;
  // Once the cloud is known, until the end. Set once, and then only read.
  std::unique_ptr<NoticeWatch> inner_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace outlast::notice
