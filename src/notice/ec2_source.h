#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/ec2_events.h"
#include "notice/ec2_metadata.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/service_presence.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/world.h"

namespace outlast::notice {

// Asks EC2's metadata service, again and again: whether this spot machine is taken back ("ec2"),
// whether that has become likelier ("ec2-rebalance-hint"), and which maintenance is scheduled
// ("ec2-maintenance"). The grace is for what is announced without a usable time.
class Ec2Source : public NoticeSource {
 public:
  Ec2Source(sys::World& world, const Logger& log, Duration grace);

  std::string name() const override { return "ec2"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  struct Key {
    std::string path = {};
    Result<News> (*read)(const Ec2Answer&) = nullptr;
  };
  // What may be said of one thing, in several keys: the first that announces something counts.
  struct Topic {
    std::vector<Key> keys = {};
    Duration every = {};  // it is looked at
    Announcements announcements;
    MonoTime due = MonoTime::min();
  };
  void look(Topic& topic, NoticeBoard& board, const sys::CallContext& ctx);
  // Of one look. An error if something that may count could not be asked.
  Result<News> ask(const Topic& topic, const sys::CallContext& ctx);
  Result<News> ask(const Key& key, const sys::CallContext& ctx);

  Ec2Metadata service_;
  sys::Clock& clock_;
  const Duration grace_;
  ServicePresence presence_;
  std::vector<Topic> topics_;
};

}  // namespace outlast::notice
