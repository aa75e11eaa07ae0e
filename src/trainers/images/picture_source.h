#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {

// Which picture, and what its changes at random (cut, mirrored) follow from together with its
// number.
struct PictureRequest {
  std::uint32_t number = 0;  // below count()
  // None: the picture as evaluation has it.
  std::optional<std::uint64_t> seed = {};
};

// Pictures with a class each, all of the size that a network wants. Thread-safe.
class PictureSource {
 public:
  virtual ~PictureSource() = default;

  virtual std::uint32_t count() const = 0;
  virtual std::size_t side() const = 0;
  virtual const Normalisation& normalisation() const = 0;  // that the network wants
  virtual const std::vector<std::string>& class_names() const = 0;
  // What a picture is called, for people, and the number of its class.
  virtual std::string name(std::uint32_t number) const = 0;
  virtual std::int64_t label(std::uint32_t number) const = 0;

  // Writes side x side pixels to `rgb`, rows from the top. A pure function of the request. A
  // picture that is damaged gives its place to another: the number of the one that was written.
  virtual Result<std::uint32_t> read(const PictureRequest& request,
                                     std::span<std::uint8_t> rgb) = 0;
  // What read() has found to be damaged so far, as one line for people; nothing if all was well.
  virtual std::optional<std::string> damage() const { return std::nullopt; }
};

}  // namespace outlast::trainers
