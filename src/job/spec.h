#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/yaml.h"
#include "job/money.h"
#include "job/place.h"

// What a person writes in a job file, and how it is read. Everything here is a value; the functions
// are pure and thread-safe.
namespace outlast::job {

// When a checkpoint is due: chosen from what it costs and what a loss would cost, or a fixed
// rhythm.
struct CheckpointEvery {
  enum class Unit { kAuto, kTime, kSteps, kEpochs };
  Unit unit = Unit::kAuto;
  Duration time{};          // kTime
  std::uint64_t count = 0;  // kSteps, kEpochs
  friend bool operator==(const CheckpointEvery&, const CheckpointEvery&) = default;
};

struct CheckpointRules {
  std::optional<std::string> dir;  // none: found by watching what the trainer writes
  CheckpointEvery every;
  std::uint64_t keep = 3;
  friend bool operator==(const CheckpointRules&, const CheckpointRules&) = default;
};

// How the trainer's own output is read.
struct ProgressRules {
  std::optional<std::string> regex;  // none: by the formats that are known
  friend bool operator==(const ProgressRules&, const ProgressRules&) = default;
};

// What the trainer says by the code that it exits with, besides 0. The defaults are EX_TEMPFAIL and
// EX_CONFIG of sysexits.h.
struct ExitCodes {
  int left = 75;   // saved and left: go on elsewhere
  int never = 78;  // trying again is no use
  friend bool operator==(const ExitCodes&, const ExitCodes&) = default;
};

struct GitSource {
  std::string url;
  std::string revision;
  friend bool operator==(const GitSource&, const GitSource&) = default;
};

enum class Order { kPrice, kAsListed };
inline constexpr std::array<std::string_view, 2> kOrderWords = {"price", "as-listed"};

enum class OnDone { kShutdown, kKeep };
inline constexpr std::array<std::string_view, 2> kOnDoneWords = {"shutdown", "keep"};

// What becomes of the machine when the job has failed for good.
struct OnFailed {
  bool keep = false;
  std::optional<Duration> keep_for;  // none while `keep`: until somebody ends it
  friend bool operator==(const OnFailed&, const OnFailed&) = default;
};

enum class NotifyEvent { kPreempted, kResumed, kStuck, kDone, kFailed, kOverBudget };
inline constexpr std::array<std::string_view, 6> kNotifyWords = {
    "preempted", "resumed", "stuck", "done", "failed", "over-budget"};

struct Notify {
  std::string webhook;
  std::vector<NotifyEvent> on;
  friend bool operator==(const Notify&, const Notify&) = default;
};

// The complete job: every default is filled in. The initialisers here only make an empty Spec a
// valid object; the defaults of a job file are in the field table (fields.h).
struct Spec {
  JobName name;
  std::string root;
  std::string run;
  std::map<std::string, std::string> env;
  std::vector<std::string> files;
  std::optional<GitSource> git;
  std::optional<std::string> setup;
  std::optional<std::string> container;
  CheckpointRules checkpoint;
  std::vector<Place> places;
  Order order = Order::kPrice;
  SpotPolicy spot = SpotPolicy::kPrefer;
  std::optional<Duration> deadline;
  std::optional<Money> budget;
  Duration grace = std::chrono::seconds(30);  // from SIGTERM to the end of the machine
  std::optional<Duration> lifetime;           // after which a machine ends by itself
  std::uint64_t retries = 3;
  ExitCodes exit_codes;
  ProgressRules progress;
  OnDone on_done = OnDone::kShutdown;
  OnFailed on_failed;
  std::vector<std::string> cache;
  std::optional<Notify> notify;

  friend bool operator==(const Spec&, const Spec&) = default;
};

// One mistake in a job file.
struct Diagnostic {
  TextPosition position;
  std::string key;  // "places[1].disk", for programs; empty where no key is concerned
  std::string message;
};

// A file with more mistakes than this is reported up to here; the rest is counted.
inline constexpr std::size_t kDiagnosticsMax = 100;

struct SpecReading {
  // Set if and only if `diagnostics` is empty.
  std::optional<Spec> spec;
  // Every mistake found, by position.
  std::vector<Diagnostic> diagnostics;
  // How many mistakes there are beyond those.
  std::size_t more = 0;
  // The keys that the file did not give, sorted: "checkpoint.keep", "places[0].port", and the whole
  // of what was left out ("places") without what is inside it. Empty unless `spec` is set.
  std::vector<std::string> defaulted;
};

// Reads a job file. Of a file with ten mistakes it reports ten.
SpecReading read_spec(std::string_view yaml);

// "job.yaml:3:10: 'deadline' must be …". No line end.
std::string format_diagnostic(std::string_view file, const Diagnostic& diagnostic);
// All of them, one a line, each ended; last, if there are more, how many.
std::string format_diagnostics(std::string_view file, const SpecReading& reading);

}  // namespace outlast::job
