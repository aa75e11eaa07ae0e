#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "stand_in/happening.h"
#include "stand_in/metadata_stand_in.h"
#include "stand_in/script.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::stand_in {

// Makes what a script says happen to a stand-in, at its times from now on, on a thread of its own
// that ends with this object. Confined to its owner; what it is given must outlive it.
class ScriptPlayer {
 public:
  // Called by that thread after each happening, with whether the stand-in took it.
  using Told = std::function<void(const Happening& happening, const Result<void>& taken)>;

  ScriptPlayer(Script script, MetadataStandIn& stand_in, sys::Clock& clock, sys::Threads& threads,
               Told told);

 private:
  std::unique_ptr<sys::Thread> thread_;
};

}  // namespace outlast::stand_in
