#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/azure_metadata.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/service_presence.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/world.h"

namespace outlast::notice {

// Looks at Azure's Scheduled Events every second. What ends this machine is a notice; what freezes
// it, or may be meant for another one, is a hint. An event that is gone is withdrawn. The grace is
// for what is announced without a usable time.
class AzureSource : public NoticeSource {
 public:
  AzureSource(sys::World& world, const Logger& log, Duration grace);

  std::string name() const override { return "azure"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;
  // Azure may go ahead with what we have announced, if that concerns this machine alone.
  Result<std::string> release(const Departure& departure, const sys::CallContext& ctx) override;

 private:
  void look(NoticeBoard& board, const sys::CallContext& ctx);
  void learn_name(const sys::CallContext& ctx);

  AzureMetadata service_;
  sys::Clock& clock_;
  const Duration grace_;
  ServicePresence presence_;
  Announcements announcements_;
  std::string machine_;  // our own name, once it is known
  MonoTime ask_name_at_ = MonoTime::min();
  bool has_answered_ = false;  // the service is switched on
  Mutex mutex_;
  std::vector<std::string> ours_alone_ OUTLAST_GUARDED_BY(mutex_);  // announced, and may begin
};

}  // namespace outlast::notice
