#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace outlast::trainers::fused {

// Floats that begin at a whole cache line, all 0 at first, and stay where they are. Confined to its
// owner.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t count)
      : count_(count),
        floats_(static_cast<float*>(::operator new(count * sizeof(float), kAlignment))) {
    std::fill_n(floats_.get(), count, 0.0F);
  }

  float* data() { return floats_.get(); }
  const float* data() const { return floats_.get(); }
  std::size_t size() const { return count_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Release {
    void operator()(float* floats) const { ::operator delete(floats, kAlignment); }
  };

  std::size_t count_;
  std::unique_ptr<float, Release> floats_;
};

}  // namespace outlast::trainers::fused
