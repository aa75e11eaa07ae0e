#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace outlast::trainers {

// Memory for what a step computes on its way, taken piece by piece and given back all at once. The
// same memory serves every step: fresh memory costs more time than many a kernel that fills it.
// Confined to its owner.
class Workspace {
 public:
  // So many numbers, not initialised, from a multiple of 64 bytes on. They stay until clear().
  float* take(std::size_t count);
  void clear();

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  struct Block {
    std::unique_ptr<float[], Free> memory;
    std::size_t size = 0;
  };
  void add_block(std::size_t size);

  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the last block
};

}  // namespace outlast::trainers
