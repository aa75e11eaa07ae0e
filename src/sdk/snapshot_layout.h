#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/registered.h"

namespace outlast::sdk {

// Where everything is in a snapshot of this trainer: a safetensors file whose header has always the
// same length, and differs from one snapshot to the next only in its tail, where the blobs and the
// step are. Immutable after construction.
class SnapshotLayout {
 public:
  // Throws SnapshotError if the header would be longer than readers of the format allow.
  explicit SnapshotLayout(const Registered& registered);

  // What is the same in all: where it begins is the beginning of the snapshot.
  const std::string& head() const { return head_; }
  // What follows it in the snapshot that is taken after `step` with these blobs, to data_begin().
  std::string tail(std::uint64_t step, const std::vector<std::string>& blobs) const;
  std::uint64_t data_begin() const { return data_begin_; }
  // The tensors.
  const CopyPlan& plan() const { return plan_; }
  // Where the first blob begins; the others follow without gaps.
  std::uint64_t blobs_begin() const { return blobs_begin_; }
  // With all blobs as long as they may be.
  std::uint64_t bytes_max() const { return bytes_max_; }

 private:
  std::vector<std::string> blob_names_;  // as JSON
  std::string head_;
  CopyPlan plan_;
  std::uint64_t data_begin_ = 0;
  std::uint64_t blobs_begin_ = 0;
  std::uint64_t bytes_max_ = 0;
};

}  // namespace outlast::sdk
