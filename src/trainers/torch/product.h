#pragma once

#include <cstdint>

namespace outlast::trainers {

// One factor of a product: a matrix in memory, row after row, `stride` numbers apart. Transposed:
// the product is taken with its rows as columns.
struct Factor {
  const float* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

// Where a product goes.
struct Target {
  float* data = nullptr;
  std::int64_t stride = 0;
  bool add = false;  // to what is there, instead of replacing it
};

struct ProductSize {
  std::int64_t rows = 0;     // of the product
  std::int64_t columns = 0;  // of the product
  std::int64_t inner = 0;    // how many terms each sum has
  float scale = 1;           // that each sum is multiplied by
};

// scale * left * right. By oneDNN, which libtorch brings along, and not by the BLAS that libtorch
// calls: which one that is depends on what the machine has been given, and the one that Debian
// installs by itself is thirty times slower. Uses the threads of OpenMP, one if it is called by one
// of them. The same bits each time on the same machine with as many threads.
void multiply(const Factor& left, const Factor& right, const ProductSize& size,
              const Target& target);

}  // namespace outlast::trainers
