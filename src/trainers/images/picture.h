#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace outlast::trainers {

// A decoded picture: rows from the top, each pixel as red, green, blue. A value.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb = {};  // width * height * 3
};

}  // namespace outlast::trainers
