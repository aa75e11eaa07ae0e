#pragma once

#include <functional>
#include <optional>
#include <string>

#include "job/place_facts.h"
#include "notice/cloud_places.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::notice {

// No bad news, but where we are: asks until the place has told, and puts it on the board. It has a
// thread of its own, so that nobody who listens waits for it.
class PlaceSource : public NoticeSource {
 public:
  using Read = std::function<PlaceReading(const sys::CallContext&)>;
  // `pod`: if this is a pod, what it knows of itself; it stands beside what the cloud says, which
  // is asked by `read` (empty: there is no cloud to ask).
  PlaceSource(sys::Clock& clock, std::optional<job::PlaceFacts> pod, Read read);

  std::string name() const override { return "place"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;

 private:
  sys::Clock& clock_;
  const std::optional<job::PlaceFacts> pod_;
  const Read read_;
};

}  // namespace outlast::notice
