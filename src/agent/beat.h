#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/attempt_record.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "job/progress_reader.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// A sign of life, overwritten again and again. Nothing's safety depends on it: it only decides when
// somebody else may think of taking over. Values and their text.
namespace outlast::agent {

inline constexpr Duration kBeatEvery = std::chrono::seconds(15);
// An attempt that did not say that it ended and has not been heard of for so long has vanished.
inline constexpr Duration kBeatStale = std::chrono::seconds(60);

enum class AgentState { kStarting, kRestoring, kTraining, kWaiting, kLeaving, kEnded };
std::string_view to_string(AgentState state);

struct Beat {
  job::Epoch epoch = 0;
  AgentId agent = {};
  WallTime time = {};  // by the agent's clock in whole milliseconds, as all times here
  AgentState state = AgentState::kStarting;
  std::optional<AttemptOutcome> outcome = {};  // kEnded

  job::Progress progress = {};  // as the trainer printed it

  struct Committed {
    job::Seq seq = 0;
    std::optional<std::uint64_t> step = {};
    WallTime time = {};
    std::uint64_t bytes = 0;
    friend bool operator==(const Committed&, const Committed&) = default;
  };
  std::optional<Committed> committed = {};  // the newest checkpoint
  // Since when something newer than that waits on the machine; none: nothing does.
  std::optional<Duration> lag = {};
  std::string next_save = {};           // when, and why then, for people; "" if not known
  std::optional<Duration> margin = {};  // job::notice_margin(): below zero it does not fit
  struct Noticed {
    std::string source = {};
    WallTime ends = {};  // the machine
    std::string why = {};
    friend bool operator==(const Noticed&, const Noticed&) = default;
  };
  std::optional<Noticed> notice = {};
  std::string trouble = {};  // what is wrong at the moment, one sentence; "" if nothing is

  friend bool operator==(const Beat&, const Beat&) = default;
};

inline constexpr std::size_t kBeatBytesMax = std::size_t{1} << 20U;

// Canonical JSON. Strings that are not UTF-8 are made so. Durations are seconds. Of the progress,
// a number that is not finite is left out; a metric that is not, is named in `not_finite`.
std::string encode_beat(const Beat& beat);
// As decode_attempt().
Result<Beat> decode_beat(std::string_view text);

// The beat of a job as it stands in the root.
struct FoundBeat {
  Beat beat = {};
  std::string version = {};  // of the object: another one after each beat
  WallTime modified = {};    // by the store's clock
};
// None if there never was one. checkpoint::is_damage() where there is one that cannot be read.
Result<std::optional<FoundBeat>> find_beat(store::ObjectStore& root, const std::string& job,
                                           const sys::CallContext& ctx);

}  // namespace outlast::agent
