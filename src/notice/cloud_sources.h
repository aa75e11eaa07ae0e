#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/notice_source.h"
#include "notice/place_finder.h"
#include "sys/world.h"

namespace outlast::notice {

// What listens in a place, by its name: "gce", "ec2", "azure", "kubernetes", or "auto", which finds
// out by itself. They also tell the board where we are. `grace` is the time that is left where the
// place does not say how much is. In a pod the bad news is a signal, which SignalSource hears: what
// is made here only knows where we are. The world and the log's sink must outlive them.
// kInvalidArgument if there is no such place.
Result<std::vector<std::unique_ptr<NoticeSource>>> make_cloud_sources(std::string_view name,
                                                                      sys::World& world,
                                                                      const Logger& log,
                                                                      Duration grace);

// The same for a cloud that is known.
std::vector<std::unique_ptr<NoticeSource>> sources_of_cloud(Cloud cloud, sys::World& world,
                                                            const Logger& log, Duration grace);

}  // namespace outlast::notice
