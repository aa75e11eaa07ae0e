#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/schedule.h"
#include "stand_in/metadata_stand_in.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::drill {

// How one machine hears of its end: made for it, and gone with it. Confined to its owner.
class BadNews {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  virtual ~BadNews() = default;
  // What 'outlast run' on this machine finds in its environment; PATH is put before the old one.
  virtual Variables environment() const = 0;
  // Further options of 'outlast run'.
  virtual std::vector<std::string> options() const { return {}; }
  // The machine ends in `left`.
  virtual Result<void> announce(sys::Process& agent, Duration left) = 0;
  // It does not, after all.
  virtual Result<void> withdraw() = 0;
  // The machine is gone; call it before this goes.
  virtual void finish() {}
};

// Makes the stand-in of a cloud's metadata service: stand_in::make_stand_in().
using MakeStandIn = std::function<Result<std::unique_ptr<stand_in::MetadataStandIn>>(
    std::string_view name, sys::Clock& clock, sys::Threads& threads)>;

struct BadNewsParts {
  sys::World& world;
  MakeStandIn make_stand_in = {};
  std::string folder = {};  // that is there, for what it needs; not the trainer's
};

Result<std::unique_ptr<BadNews>> make_bad_news(Source source, const BadNewsParts& parts);

}  // namespace outlast::drill
