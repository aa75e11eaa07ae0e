#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace outlast::trainers {

// Pictures of one size with a class each, all in memory. A value.
struct ImageSet {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::vector<std::string> class_names = {};
  // Image after image; within an image channel after channel (CHW), rows from the top.
  std::vector<std::uint8_t> pixels = {};
  std::vector<std::uint16_t> labels = {};  // each below class_names.size()

  std::size_t count() const { return labels.size(); }
  std::size_t image_bytes() const { return width * height * channels; }
  // index < count()
  std::span<const std::uint8_t> image(std::size_t index) const {
    return std::span(pixels).subspan(index * image_bytes(), image_bytes());
  }
};

// What a trainer of pictures learns from and is measured by. A value.
struct ImageData {
  ImageSet train = {};
  ImageSet test = {};
  bool synthetic = false;  // made up: an accuracy on it says nothing about the real data
  std::string from = {};   // the folder, or how it was made up: for messages
};

}  // namespace outlast::trainers
