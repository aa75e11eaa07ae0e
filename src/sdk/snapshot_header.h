#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/registered.h"

namespace outlast::sdk {

inline constexpr std::size_t kHeaderLengthBytes = 8;
inline constexpr std::uint64_t kHeaderBytesMax = 100'000'000;  // what readers of safetensors allow

// A tensor of a snapshot that was read.
struct FoundTensor {
  std::string dtype = {};
  std::vector<std::uint64_t> shape = {};
  std::uint64_t begin = 0;  // in the snapshot
  std::uint64_t bytes = 0;
};

struct SnapshotHeader {
  std::vector<std::string> names = {};  // in its order
  std::unordered_map<std::string, FoundTensor> tensors = {};
  std::optional<std::uint64_t> step = {};  // as its metadata say
};

// Of a whole snapshot, which may have been written by anybody; nullopt if it is none, or a part is
// missing.
std::optional<SnapshotHeader> read_snapshot_header(std::span<const std::byte> snapshot);

// How a snapshot goes back to where it came from.
struct PutBack {
  CopyPlan plan = {};                                               // of the tensors
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blobs = {};  // begin and length of each
};

// Throws SnapshotError if the snapshot is of another state than what is registered: it names the
// first that differs. `where` names the snapshot.
PutBack fit(const SnapshotHeader& header, const Registered& registered, std::string_view where);

}  // namespace outlast::sdk
