#include "sim/sim_shared_memory.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sim/kernel.h"
#include "sys/shared_memory.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kAlignment = 4096;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 40U;  // of what is never written to

using Block = std::unique_ptr<void, decltype(&std::free)>;

class SimSharedMemory : public sys::SharedMemory {
 public:
  SimSharedMemory(Block block, std::size_t size) : block_(std::move(block)) {
    void* start = block_.get();
    std::size_t room = size + kAlignment;
    bytes_ = {static_cast<std::byte*>(std::align(kAlignment, size, start, room)), size};
  }
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  const Block block_;
  std::span<std::byte> bytes_;
};

}  // namespace

Result<std::shared_ptr<sys::SharedMemory>> SimSharedMemories::make(std::uint64_t size) {
  if (!kernel_.step("memory.make", fmt::format("{}", size))) return gone_error();
  if (size == 0) return Error(ErrorCode::kInvalidArgument, "shared memory of 0 bytes is none");
  // Zeros that cost nothing until they are written to, as the real ones.
  Block block(size > kLargest ? nullptr : std::calloc(size + kAlignment, 1), &std::free);
  if (!block) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("get {} bytes of shared memory: Cannot allocate memory", size));
  }
  return std::make_shared<SimSharedMemory>(std::move(block), size);
}

std::optional<std::uint64_t> SimSharedMemories::available() {
  if (!kernel_.step("memory.available")) return std::nullopt;
  return available_;
}

}  // namespace outlast::sim
