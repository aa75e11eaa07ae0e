#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainers/fused/cnn_layout.h"

namespace outlast::trainers::fused {

// A batch, or a part of one.
struct Batch {
  const std::uint8_t* const* pictures = nullptr;  // each [channel][y][x]
  const std::uint16_t* labels = nullptr;
  std::size_t count = 0;
  std::size_t channels = 3;
};

struct BatchResult {
  double loss = 0;  // the sum over the batch
  std::uint64_t correct = 0;
};

struct SgdStep {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
};
struct AdamStep {
  float learning_rate = 0;
  float first_bias = 1;   // 1 - 0.9^step
  float second_bias = 1;  // 1 - 0.999^step
  float weight_decay = 0;
  bool decoupled = false;  // AdamW
};

// Work space of one thread, aligned to 64 bytes.
inline constexpr std::size_t kScratchFloats = 160U << 10U;

// The arithmetic of the CNN, for one kind of processor. All give the same bits. Arrays are aligned
// to 64 bytes and laid out as CnnLayout says; counts of floats are multiples of 16.
struct Kernels {
  const char* name;
  // Forward and backward. `gradient` becomes, or with `adds` grows by, the sum of the pictures'
  // gradients times `scale`.
  BatchResult (*learn)(const CnnLayout& layout, const float* parameters, const Batch& batch,
                       float scale, bool adds, float* gradient, float* scratch);
  // Forward only. `logits`: for each picture as many as there are classes.
  void (*infer)(const CnnLayout& layout, const float* parameters, const Batch& batch, float* logits,
                float* scratch);
  void (*add)(float* to, const float* from, std::size_t floats);
  void (*sgd)(float* parameters, float* momentum, const float* gradient, std::size_t floats,
              const SgdStep& step);
  void (*adam)(float* parameters, float* first, float* second, const float* gradient,
               std::size_t floats, const AdamStep& step);
};

// For processors with AVX2 and FMA (wider vectors were no faster where that was measured), and for
// all. The latter is slow where the processor has no FMA.
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
#endif
extern const Kernels kPortableKernels;

// Those that this processor can run.
std::vector<const Kernels*> usable_kernels();
// The fastest of them.
const Kernels& best_kernels();

}  // namespace outlast::trainers::fused
