#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "drill/schedule.h"
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

struct BadNewsParts {
  sys::World& world;
  std::string folder = {};  // that is there, for what it needs; not the trainer's
};

Result<std::unique_ptr<BadNews>> make_bad_news(Source source, const BadNewsParts& parts);

}  // namespace outlast::drill
