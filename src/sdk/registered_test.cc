#include "sdk/registered.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

TEST(Registered, NamesAreUniqueUtf8AndNotEmpty) {
  Registered registered;
  std::array<float, 4> data{};
  registered.add("größe/😀", &data[0], Dtype::kF32, {1});
  for (const std::string name : {"", "\xff", "größe/😀", "__metadata__"}) {
    EXPECT_THROW(registered.add(name, &data[1], Dtype::kF32, {1}), SnapshotError) << name;
    EXPECT_THROW(registered.add_value(name, &data[1], 4), SnapshotError) << name;
    EXPECT_THROW(registered.add_blob({.name = name,
                                      .capacity = 1,
                                      .is_exact = false,
                                      .get = [] { return std::string(); },
                                      .set = [](std::string_view /*bytes*/) {}}),
                 SnapshotError)
        << name;
  }
  EXPECT_THROW(registered.add_blob({.name = "no functions", .capacity = 1}), SnapshotError);
  EXPECT_EQ(registered.tensors().size(), 1U);
  EXPECT_TRUE(registered.blobs().empty());
}

TEST(Registered, NothingMayOverlap) {
  Registered registered;
  std::array<std::uint8_t, 100> data{};
  registered.add("middle", &data[40], Dtype::kU8, {20});
  registered.add("left", &data[0], Dtype::kU8, {40});
  registered.add("right", &data[60], Dtype::kU8, {20});
  const struct {
    std::size_t begin;
    std::size_t bytes;
  } overlaps[] = {{40, 20}, {39, 1}, {59, 1}, {45, 2}, {0, 100}, {60, 1}, {79, 21}, {0, 1}};
  for (const auto& overlap : overlaps) {
    EXPECT_THROW(registered.add("new", &data[overlap.begin], Dtype::kU8, {overlap.bytes}),
                 SnapshotError)
        << overlap.begin;
    EXPECT_THROW(registered.add_value("new", &data[overlap.begin], overlap.bytes), SnapshotError);
  }
  registered.add("empty", &data[50], Dtype::kU8, {0});
  registered.add_value("new", &data[80], 20);
  EXPECT_EQ(registered.tensors().size(), 4U);
}

TEST(Registered, AnOverlapNamesBoth) {
  Registered registered;
  std::array<std::uint8_t, 100> data{};
  registered.add("one", &data[40], Dtype::kU8, {20});
  try {
    registered.add("two", &data[50], Dtype::kU8, {20});
    FAIL();
  } catch (const SnapshotError& error) {
    EXPECT_NE(std::string(error.what()).find("'two' and 'one' overlap"), std::string::npos);
  }
}

TEST(Registered, WhatCannotBeInMemoryIsRefused) {
  Registered registered;
  std::array<float, 4> data{};
  EXPECT_THROW(registered.add("null", nullptr, Dtype::kF32, {1}), SnapshotError);
  EXPECT_THROW(registered.add("huge", data.data(), Dtype::kF32, {1UL << 40U, 1UL << 40U}),
               SnapshotError);
  EXPECT_THROW(registered.add("large", data.data(), Dtype::kU8, {(1UL << 63U) - 1}), SnapshotError);
  registered.add("empty", nullptr, Dtype::kF32, {1UL << 40U, 0, 1UL << 40U});
  registered.add("scalar", data.data(), Dtype::kF64, {});
  EXPECT_EQ(registered.tensors()[0].bytes, 0U);
  EXPECT_EQ(registered.tensors()[1].bytes, 8U);
}

}  // namespace
}  // namespace outlast::sdk
