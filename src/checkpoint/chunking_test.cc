#include "checkpoint/chunking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "checkpoint/pack.h"
#include "checkpoint/safetensors.h"

namespace outlast::checkpoint {
namespace {
namespace chunking_test {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

struct Sized {
  std::uint64_t bytes = 0;
  Dtype dtype = Dtype::kF32;
};

Safetensors file_with(const std::vector<Sized>& sizes, std::uint64_t header = 1000) {
  Safetensors file = {.data_begin = header, .size = header};
  for (const auto& [bytes, dtype] : sizes) {
    file.tensors.push_back({.name = "t" + std::to_string(file.tensors.size()),
                            .dtype = dtype,
                            .begin = file.size,
                            .end = file.size + bytes});
    file.size += bytes;
  }
  return file;
}

std::vector<std::uint64_t> lengths(const std::vector<ChunkPlan>& plan) {
  std::vector<std::uint64_t> bytes;
  for (const ChunkPlan& chunk : plan) bytes.push_back(chunk.bytes);
  return bytes;
}

void expect_cover(const std::vector<ChunkPlan>& plan, std::uint64_t size) {
  std::uint64_t end = 0;
  for (const ChunkPlan& chunk : plan) {
    ASSERT_EQ(chunk.offset, end);
    ASSERT_GT(chunk.bytes, 0U);
    ASSERT_LE(chunk.bytes, kChunkBytesMax);
    end += chunk.bytes;
  }
  ASSERT_EQ(end, size);
}

Safetensors random_file(Random& random) {
  constexpr Dtype kDtypes[] = {Dtype::kU8, Dtype::kBF16, Dtype::kF32, Dtype::kI64};
  std::vector<Sized> sizes(random.below(30));
  for (auto& [bytes, dtype] : sizes) {
    bytes = random.below(std::uint64_t{1} << random.below(24));
    dtype = kDtypes[random.below(4)];
  }
  return file_with(sizes, 8 + random.below(3 * kMiB));
}

// The chunks that lie in a tensor, as if it were a file of its own.
std::vector<ChunkPlan> within(const std::vector<ChunkPlan>& plan, const Tensor& tensor) {
  std::vector<ChunkPlan> inside;
  for (ChunkPlan chunk : plan) {
    if (chunk.offset < tensor.begin || chunk.offset >= tensor.end) continue;
    chunk.offset -= tensor.begin;
    inside.push_back(chunk);
  }
  return inside;
}

TEST(Chunking, PlainFilesAreCutEveryMebibyte) {
  EXPECT_TRUE(plan_chunks(0).empty());
  EXPECT_EQ(lengths(plan_chunks(1)), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(lengths(plan_chunks(kMiB)), (std::vector<std::uint64_t>{kMiB}));
  EXPECT_EQ(plan_chunks(2 * kMiB + 1, 4),
            (std::vector<ChunkPlan>{{.offset = 0, .bytes = kMiB, .width = 4},
                                    {.offset = kMiB, .bytes = kMiB, .width = 4},
                                    {.offset = 2 * kMiB, .bytes = 1, .width = 4}}));
}

TEST(Chunking, LargeFilesHaveLargerChunks) {
  EXPECT_EQ(chunk_bytes_for(kGiB - 1), kMiB);
  EXPECT_EQ(chunk_bytes_for(kGiB), 2 * kMiB);
  EXPECT_EQ(chunk_bytes_for(8 * kGiB - 1), 2 * kMiB);
  EXPECT_EQ(chunk_bytes_for(8 * kGiB), 4 * kMiB);
  expect_cover(plan_chunks(9 * kGiB + 5), 9 * kGiB + 5);
}

TEST(Chunking, AFileThatGrowsKeepsItsChunks) {
  for (const std::uint64_t size : {kMiB + 5, 3 * kMiB, 7 * kMiB + 999}) {
    const auto before = plan_chunks(size);
    const auto after = plan_chunks(size + 2 * kMiB);
    EXPECT_TRUE(std::equal(before.begin(), before.end() - 1, after.begin()));
  }
}

TEST(Chunking, LargeTensorsHaveChunksOfTheirOwn) {
  const Safetensors file = file_with({{100, Dtype::kF32},
                                      {200, Dtype::kF32},
                                      {kOwnChunkBytes, Dtype::kBF16},
                                      {8, Dtype::kI64},
                                      {3 * kMiB + 300 * kKiB, Dtype::kF32},
                                      {0, Dtype::kU8},
                                      {2 * kMiB + 100 * kKiB, Dtype::kF64}});
  const auto plan = plan_chunks(file);
  EXPECT_EQ(lengths(plan), (std::vector<std::uint64_t>{1000, 300, kOwnChunkBytes, 8, kMiB, kMiB,
                                                       kMiB, 300 * kKiB, kMiB, kMiB + 100 * kKiB}));
  std::string widths;
  for (const ChunkPlan& chunk : plan) widths += std::to_string(chunk.width);
  EXPECT_EQ(widths, "1428444488");
  expect_cover(plan, file.size);
}

TEST(Chunking, SmallTensorsShareChunksUpToTheirSize) {
  const std::vector<Sized> many(10, {200 * kKiB, Dtype::kF16});
  EXPECT_EQ(lengths(plan_chunks(file_with(many))),
            (std::vector<std::uint64_t>{1000, 1000 * kKiB, 1000 * kKiB}));
}

TEST(Chunking, MixedNumbersHaveNoWidth) {
  const auto plan = plan_chunks(file_with({{0, Dtype::kU8}, {4, Dtype::kF32}, {8, Dtype::kI64}}));
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[1].width, 0U);
}

TEST(Chunking, EveryByteIsInOneChunk) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const Safetensors file = random_file(random);
    const auto plan = plan_chunks(file);
    expect_cover(plan, file.size);
    EXPECT_EQ(plan, plan_chunks(file));
    for (const ChunkPlan& chunk : plan) {
      // Never two large tensors, nor a piece of one and something else.
      for (const Tensor& tensor : file.tensors) {
        if (tensor.end - tensor.begin < kOwnChunkBytes) continue;
        const bool begins_before = chunk.offset < tensor.begin;
        EXPECT_FALSE(begins_before && chunk.offset + chunk.bytes > tensor.begin);
      }
    }
  }
}

TEST(Chunking, AnotherSizeOfOneTensorMovesNoChunkOfOtherLargeOnes) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Safetensors before = random_file(random);
    if (before.tensors.empty()) continue;
    std::vector<Sized> sizes;
    for (const Tensor& tensor : before.tensors) {
      sizes.push_back({.bytes = tensor.end - tensor.begin, .dtype = tensor.dtype});
    }
    const std::size_t changed = random.below(sizes.size());
    sizes[changed].bytes += random.below(2 * kMiB);
    const Safetensors after = file_with(sizes, before.data_begin + random.below(100));
    const auto plan_before = plan_chunks(before);
    const auto plan_after = plan_chunks(after);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i == changed || sizes[i].bytes < kOwnChunkBytes) continue;
      EXPECT_EQ(within(plan_before, before.tensors[i]), within(plan_after, after.tensors[i]));
    }
  }
}

}  // namespace chunking_test
}  // namespace
}  // namespace outlast::checkpoint
