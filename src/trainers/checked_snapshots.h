#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

// What to do about a snapshot of other hyper-parameters.
enum class OtherValues {
  kRefuse,
  kRefuseUnlessAsked,  // the same, but the sentence names --change-hyper-parameters
  kTake,
};

// Snapshots that know which hyper-parameters they belong to, and whose calls give errors instead of
// throwing. Confined to its owner.
class CheckedSnapshots {
 public:
  CheckedSnapshots(const SnapshotOptions& options, HyperParameters hyper_parameters);
  CheckedSnapshots(const CheckedSnapshots&) = delete;
  CheckedSnapshots& operator=(const CheckedSnapshots&) = delete;

  // To register the state with, and for what never throws.
  Snapshots& snapshots() { return snapshots_; }
  const Snapshots& snapshots() const { return snapshots_; }

  // This one is as the snapshot has it, if there is one.
  void follow(std::string name) { followed_.push_back(std::move(name)); }
  // Those that count: after resume() with what was followed.
  const HyperParameters& hyper_parameters() const { return given_; }

  // Puts the newest snapshot in place, if there is one, and returns its step. kInvalidArgument,
  // with both values and nothing changed, if its hyper-parameters are others and not to be taken;
  // kFailed if it does not fit, or cannot be read: nothing may be trained then.
  Result<std::optional<std::uint64_t>> resume(OtherValues others);

  // As in sdk/snapshots.h.
  Result<bool> step_done(std::uint64_t step, std::uint64_t total);
  Result<void> save(std::uint64_t step);
  Result<void> done();

 private:
  Result<void> compare(std::string_view saved);

  HyperParameters given_;
  std::vector<std::string> followed_;
  OtherValues others_ = OtherValues::kRefuse;
  Result<void> compared_;
  Snapshots snapshots_;
};

}  // namespace outlast::trainers
