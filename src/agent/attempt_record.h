#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "job/place_facts.h"
#include "job/retry_budget.h"

// What is known of one attempt. Values and their text.
namespace outlast::agent {

// Which process on which machine: enough to see, on that very machine, whether it still lives.
struct AgentId {
  std::string host = {};     // for people
  std::string machine = {};  // another one after each boot and in each container; "" if not known
  std::uint64_t pid = 0;     // 0: not known
  friend bool operator==(const AgentId&, const AgentId&) = default;
};

// How an attempt ended, if it had time to say so.
enum class AttemptOutcome {
  kDone,
  kFailed,     // for good
  kLeft,       // the machine, or our time on it, ended; to be resumed
  kCancelled,  // by somebody on a desk
  kTakenOver,  // another attempt has begun
  kBroken,     // the agent could not go on; to be resumed
};
std::string_view to_string(AttemptOutcome outcome);

struct AttemptRecord {
  job::Epoch epoch = 0;
  AgentId agent = {};
  std::string version = {};  // of outlast
  WallTime began = {};       // by its machine's clock in whole milliseconds, as all times here
  std::string command = {};  // the trainer's, as it is typed in a shell
  std::string folder = {};   // that it runs in
  std::optional<job::PlaceFacts> place = {};  // as soon as it is known

  struct Restored {
    job::Seq seq = 0;
    std::optional<std::uint64_t> step = {};
    std::uint64_t bytes = 0;
    friend bool operator==(const Restored&, const Restored&) = default;
  };
  std::optional<Restored> restored = {};  // none: it began from nothing

  // How lives of the trainer ended, oldest first: those of the attempts before, then of this one.
  // The newest kEndsMax: what decide_retry() can need.
  std::vector<job::AttemptEnd> ends = {};

  struct Ended {
    WallTime time = {};
    AttemptOutcome outcome = AttemptOutcome::kLeft;
    std::string why = {};
    friend bool operator==(const Ended&, const Ended&) = default;
  };
  std::optional<Ended> ended = {};  // none: it goes on, or its machine vanished

  friend bool operator==(const AttemptRecord&, const AttemptRecord&) = default;
};

inline constexpr std::size_t kEndsMax = 256;
inline constexpr std::size_t kAttemptBytesMax = std::size_t{4} << 20U;

// Canonical JSON. Strings that are not UTF-8 are made so; of more ends than kEndsMax the newest are
// kept.
std::string encode_attempt(const AttemptRecord& record);
// kCorrupt with what is wrong; kInvalidArgument, naming both versions, if it is of a newer format.
// Fields that are not known are ignored.
Result<AttemptRecord> decode_attempt(std::string_view text);

}  // namespace outlast::agent
