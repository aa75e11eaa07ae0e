#pragma once

#include <filesystem>
#include <string>

#include "sys/posix_world.h"
#include "sys/testing/world_maker.h"

namespace outlast::sys::testing {

// The real world, with a scratch folder that is removed afterwards.
inline WorldMaker real_world() {
  return {.name = "Real", .run = [](const WorldMaker::Body& body) {
            RealWorld real;
            const std::filesystem::path scratch =
                std::filesystem::temp_directory_path() /
                ("outlast-test-" + make_token(real.world().random, 12));
            std::filesystem::create_directory(scratch);
            body(real.world(), scratch.string());
            std::filesystem::remove_all(scratch);
          }};
}

}  // namespace outlast::sys::testing
