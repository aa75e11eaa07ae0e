#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::trainers::testing {

// A real world with an empty folder in it, in which tests put data.
struct DataFolder {
  sys::World& world;
  std::string path;

  std::string at(std::string_view name) const { return sys::join_path(path, name); }
  void write(std::string_view name, std::string_view bytes) const {
    ASSERT_TRUE(sys::make_dirs(world.files, sys::parent_path(at(name))));
    ASSERT_TRUE(sys::write_file_atomically(world.files, at(name), as_bytes(bytes)));
  }
  std::string read(std::string_view name) const {
    return sys::read_file(world.files, at(name), 1U << 30U).value_or("(no file)");
  }
};

inline void with_data_folder(const std::function<void(const DataFolder&)>& body) {
  sys::testing::real_world().run(
      [&](sys::World& world, const std::string& path) { body({.world = world, .path = path}); });
}

}  // namespace outlast::trainers::testing
