#pragma once

#include <cstddef>
#include <span>

#include "base/encoding.h"

// Numbers of some bytes each, and the same bytes ordered otherwise: all first bytes, then all
// second ones, … (planes). The exponents of floats are alike, their mantissas are not; side by side
// the former shrink. A width is 2, 4 or 8, and the sizes of both sides are equal and a multiple of
// it.
namespace outlast::checkpoint {

void split_planes(unsigned width, BytesView numbers, std::span<std::byte> planes);
void join_planes(unsigned width, BytesView planes, std::span<std::byte> numbers);

}  // namespace outlast::checkpoint
