#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "sim/simulation.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

// What the tests of the DirectoryStore have in common.
namespace outlast::store::testing {

inline constexpr std::string_view kRoot = "/root/store";

inline DirectoryStore store_in(sys::World& world, const std::string& root) {
  return {{.files = world.files, .clock = world.clock, .random = world.random.fork()}, root};
}

// On a simulated machine, with a store in a folder that is there.
inline void on_machine(
    const std::function<void(sim::Machine&, sys::World&, DirectoryStore&)>& body) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m1", 1U << 20U);
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          ASSERT_TRUE(sys::make_dirs(world.files, std::string(kRoot)));
          DirectoryStore store = store_in(world, std::string(kRoot));
          body(machine, world, store);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

template <typename T>
std::string sentence_of(const Result<T>& result, ErrorCode code) {
  EXPECT_FALSE(result);
  if (result) return "it worked";
  EXPECT_EQ(result.error().code(), code) << result.error().to_string();
  return result.error().to_string();
}

inline Result<std::string> put(ObjectStore& store, const std::string& key, std::string_view text,
                               const WriteIf& condition = {}) {
  return store.put(key, as_bytes(text), condition, {});
}

inline std::string read(ObjectStore& store, const std::string& key) {
  std::string text;
  const auto info = store.get(key, {},
                              [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                text += as_text(piece);
                                return {};
                              },
                              {});
  return info ? text : std::string(to_string(info.error().code()));
}

inline std::vector<std::string> keys_of(ObjectStore& store) {
  std::vector<std::string> keys;
  const auto page = store.list({}, {});
  EXPECT_TRUE(page) << page.error().to_string();
  for (const ObjectInfo& object : page->objects) keys.push_back(object.key);
  return keys;
}

inline std::string path(std::string_view key) {
  return fmt::format("{}/{}", kRoot, key);
}

// Of our own files in a folder of the store.
inline std::vector<std::string> drafts_in(sys::World& world, std::string_view folder = {}) {
  std::vector<std::string> names;
  const auto entries = world.files.list(folder.empty() ? std::string(kRoot) : path(folder));
  for (const sys::DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with(".outlast-tmp-")) names.push_back(entry.name);
  }
  return names;
}

}  // namespace outlast::store::testing
