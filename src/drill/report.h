#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

// What a drill has found out. Values; times are seconds since the run that they belong to began.
namespace outlast::drill {

// What was done to a machine.
enum class Trouble {
  kNone,       // it lived until the job was done
  kNotice,     // a notice, and the end when its time was over
  kWithdrawn,  // a notice that was taken back; the machine stayed
  kTooLate,    // a notice, and the end a moment later
  kKill,       // the end, without a word
  kMidSave,    // the same, while the trainer was writing a checkpoint
};
std::string_view to_string(Trouble trouble);  // "none", "notice", "withdrawn", "too-late", …

struct Save {
  double at = 0;  // committed
  std::uint64_t checkpoint = 0;
  std::optional<std::uint64_t> step = {};
  std::uint64_t bytes = 0;
  std::uint64_t stored_bytes = 0;      // of these, new to the root
  double seconds = 0;                  // that it took
  std::optional<double> written = {};  // when the trainer had written the newest of it
  std::string why = {};                // "first", "interval", "notice", …
};

// A notice or an end that was brought about; a life may see several (a withdrawn one comes first).
struct Injection {
  Trouble trouble = Trouble::kNotice;
  double at = 0;                         // said, or done
  double notice_time = 0;                // that it left
  std::optional<double> heard = {};      // by the agent
  std::optional<double> asked = {};      // the trainer
  std::optional<double> committed = {};  // the last state before the end
  // From `at` to what was lost no more: 0 if all was safe already.
  std::optional<double> notice_to_committed = {};
};

// One machine's.
struct Life {
  std::uint64_t number = 0;             // from 1
  double began = 0;                     // the machine
  std::optional<double> training = {};  // the trainer was started
  std::optional<double> progress = {};  // and showed the first sign of progress
  std::optional<double> left = {};      // the agent had ended
  double ended = 0;                     // the machine
  std::vector<Injection> injections = {};
  std::vector<Save> saves = {};

  struct Restored {
    std::uint64_t checkpoint = 0;
    std::optional<std::uint64_t> step = {};
    std::uint64_t bytes = 0;
    std::uint64_t fetched_bytes = 0;
  };
  std::optional<Restored> restored = {};

  // As the trainer printed them.
  std::optional<std::uint64_t> first_step = {};
  std::optional<std::uint64_t> last_step = {};
  std::string outcome = {};  // of the attempt: "left", "done", …; "gone" if it could not say

  // By the next life: what this one had done and that one did again.
  std::optional<std::uint64_t> lost_steps = {};  // where the trainer prints steps
  std::optional<double> lost_seconds = {};       // of training, after what was kept
  // From the last commit of this life, or from its end if it was killed, to the first sign of
  // progress in the next.
  std::optional<double> recovery = {};
};

struct Run {
  std::vector<Life> lives = {};
  double seconds = 0;           // in all
  double training_seconds = 0;  // while a trainer ran
  std::uint64_t stored_bytes = 0;
  std::string outcome = {};  // "done", "failed", …
};

// Something that is wrong with the trainer, or with how it is run.
struct Finding {
  std::string id = {};  // "does-not-resume", "order-shifts", "ignores-sigterm", "torn-files", …
  std::string sentence = {};
  std::string advice = {};  // what to change
  std::vector<std::string> evidence = {};
};

struct Expectation {
  std::string text = {};  // "lost<=0", as it was asked for
  bool is_met = false;
  std::string found = {};  // "0 steps", "12.3 s after machine 3"
};

// Whether the disturbed run ended with what the undisturbed one did.
struct Comparison {
  bool is_identical = false;
  std::uint64_t files = 0;                             // that were compared
  std::vector<std::string> differences = {};           // one a line, for a person
  std::optional<bool> is_repeatable = {};              // two undisturbed runs; none if not tried
  std::optional<std::uint64_t> first_other_step = {};  // where the printed values part
};

struct Report {
  std::string version = {};  // of outlast
  std::string job = {};
  std::string command = {};
  std::string source = {};  // "gce", "file", "kill", …
  double notice_time = 0;
  std::uint64_t planned = 0;  // troubles; fewer come about if the job is done before, or fails
  WallTime began = {};
  // None: a result was given; without lives: one that an earlier drill has kept.
  std::optional<Run> undisturbed = {};
  Run disturbed = {};
  std::optional<Comparison> comparison = {};  // none: the disturbed run did not come to an end
  std::vector<Finding> findings = {};
  std::vector<Expectation> expectations = {};
  bool is_passed = false;  // every expectation was met
};

// What `outlast drill --json` prints.
Json to_json(const Report& report);
// For a terminal; lines, each ended.
std::string to_text(const Report& report, bool colour);

// How much longer the disturbed run took, as a part of the undisturbed one: 0.2 is 20 %. Nothing if
// that is not known, or the disturbed one did not come to an end.
std::optional<double> overhead(const Report& report);

}  // namespace outlast::drill
