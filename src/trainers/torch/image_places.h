#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "trainers/images/picture_source.h"

namespace outlast::trainers {

struct ImagePlace {
  // "synthetic", "cifar10:FOLDER", or a folder, or an object-store URL, with folders "train" and
  // "val" (or "validation", or "test"), and in each one folder for each class.
  std::string place = {};
  std::size_t side = 224;  // of the pictures that come out
  std::size_t synthetic_classes = 10;
  std::uint64_t seed = 0;       // of what is made up
  double crop_area_min = 0.08;  // how little of a picture may be cut out for training
  double margin =
      1.0;  // evaluation scales the shorter side to this many sides, then takes the middle
  bool may_download = false;  // refused: nobody publishes such a folder for programs
  bool is_strict = false;     // a damaged picture is an error instead of being left out
};

struct OpenedImages {
  std::unique_ptr<PictureSource> train;
  std::unique_ptr<PictureSource> test;
  std::string from;  // for people: a path, or that it is made up
};

// kNotFound, with what belongs where, if there are no pictures; kCorrupt if they are damaged.
Result<OpenedImages> open_images(const ImagePlace& place, cli::Context& context);

// How many batches --decode-ahead wants to be read ahead of the step.
Result<std::size_t> read_decode_ahead(const cli::Invocation& invocation);

}  // namespace outlast::trainers
