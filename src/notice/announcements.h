#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "job/notice_plan.h"
#include "notice/metadata_service.h"
#include "notice/notice_board.h"
#include "sys/clock.h"

namespace outlast::notice {

// One thing that a service says will happen to this machine.
struct Announcement {
  std::string id = {};  // the same one has the same
  job::NoticeConfidence confidence = job::NoticeConfidence::kCertain;
  Duration left = {};
  std::string why = {};
  // If it was announced before, that still holds; alone it is no news.
  bool is_reminder = false;
};

// All that a service announces at the moment.
struct News {
  std::vector<Announcement> announced = {};
  // What it also says and nothing follows from, and why, as sentences.
  std::vector<std::string> not_believed = {};
};

// How much time a service leaves until `at`.
struct TimeLeft {
  enum class Kind {
    kKnown,
    kUnknown,  // it cannot be told: `at` is missing, or absurd by our own clock, which may be wrong
    kOver,     // by the service's own clock it was minutes ago, and did not happen
  };
  Kind kind = Kind::kUnknown;
  Duration left = {};  // if it is known; from 0 to `longest`
};
// `longest`: no such announcement comes earlier than that.
TimeLeft time_left(std::optional<WallTime> at, const ServiceTime& now, Duration longest);

// What one source has announced, and tells the board: of all that is certain what ends first, under
// the source's name, and of all that is only possible under its name with "-hint". The end of an
// announcement never moves to later, whatever is said at the next look. Confined to its owner.
class Announcements {
 public:
  Announcements(std::string source, sys::Clock& clock, const Logger& log);

  // What is announced now. What was before and is not any more is withdrawn.
  void tell(NoticeBoard& board, const News& news);

 private:
  struct Known {
    Announcement announcement = {};
    MonoTime ends = {};
  };
  void say_once(const std::vector<std::string>& not_believed);
  void post(NoticeBoard& board, const std::string& source, job::NoticeConfidence confidence) const;

  const std::string source_;
  sys::Clock& clock_;
  const Logger log_;
  std::map<std::string, Known> known_;  // by id
  std::set<std::string> said_;          // of what is not believed
};

}  // namespace outlast::notice
