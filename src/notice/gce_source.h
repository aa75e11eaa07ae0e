#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/gce_metadata.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/service_presence.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/world.h"

namespace outlast::notice {

// Listens to one key of Google's metadata server, which says at once when it changes.
class GceSource : public NoticeSource {
 public:
  enum class Key {
    kPreempted,    // this machine is taken back; the grace is what that leaves
    kMaintenance,  // its host is: it ends when the grace is over, or it moves, which is a hint
  };
  // `presence` says whether the server answers, for all who ask it.
  GceSource(sys::World& world, const Logger& log, std::shared_ptr<ServicePresence> presence,
            Key key, Duration grace);

  std::string name() const override;
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  Result<News> read(const std::string& text) const;

  GceMetadata service_;
  sys::Clock& clock_;
  const Key key_;
  const Duration grace_;
  const std::shared_ptr<ServicePresence> presence_;  // owned by those of both keys
  Announcements announcements_;
};

}  // namespace outlast::notice
