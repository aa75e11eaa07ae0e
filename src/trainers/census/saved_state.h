#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/checked_snapshots.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

// Work whose whole state is one text: saved by the SDK together with the hyper-parameters that it
// belongs to. What the SDK throws becomes an error. Confined to its owner.
class SavedState {
 public:
  struct Parts {
    HyperParameters hyper_parameters = {};
    SnapshotOptions snapshots = {};
    std::size_t bytes_max = 0;  // of the text
    // Called in every save.
    std::function<std::string()> get = {};
    // Called by resume(), at most once, if the hyper-parameters agree.
    std::function<Result<void>(std::string_view)> set = {};
  };
  explicit SavedState(Parts parts);
  SavedState(const SavedState&) = delete;
  SavedState& operator=(const SavedState&) = delete;

  // Puts back the newest snapshot and returns its step; nothing if there is none. kInvalidArgument,
  // with both values, if the hyper-parameters were others.
  Result<std::optional<std::uint64_t>> resume();

  // As in sdk/snapshots.h.
  Result<bool> step_done(std::uint64_t step, std::uint64_t total) {
    return checked_.step_done(step, total);
  }
  Result<void> save(std::uint64_t step) { return checked_.save(step); }
  Result<void> done() { return checked_.done(); }
  bool is_wanted(std::uint64_t step) const { return checked_.snapshots().is_wanted(step); }
  void metrics(const std::map<std::string, double>& values) {
    checked_.snapshots().metrics(values);
  }
  int leave_code() const { return checked_.snapshots().leave_code(); }

 private:
  Parts parts_;
  std::string saved_text_;
  CheckedSnapshots checked_;
};

}  // namespace outlast::trainers
