#include "sdk/snapshot_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/registered.h"
#include "sdk/snapshot_header.h"
#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

void nothing(std::string_view /*bytes*/) {}

// The snapshot that a save would write.
std::string snapshot_of(const SnapshotLayout& layout, std::uint64_t step,
                        const std::vector<std::string>& blobs) {
  std::string text = layout.head() + layout.tail(step, blobs);
  text.resize(layout.blobs_begin());
  for (const Piece& piece : layout.plan().pieces()) {
    std::memcpy(text.data() + piece.offset, piece.memory, piece.bytes);
  }
  for (const std::string& blob : blobs) text += blob;
  return text;
}

std::optional<SnapshotHeader> header_of(std::string& text) {
  return read_snapshot_header(std::as_bytes(std::span(text)));
}

struct SmallState {
  std::array<std::uint8_t, 3> bytes = {1, 2, 3};
  std::array<double, 2> wide = {0.5, -2};
  std::array<float, 6> matrix = {1, 2, 3, 4, 5, 6};
  Registered registered;

  SmallState() {
    registered.add("bytes", bytes.data(), Dtype::kU8, {3});
    registered.add_blob({.name = "blöb \"😀\"",
                         .capacity = 1000,
                         .is_exact = false,
                         .get = [] { return std::string(); },
                         .set = nothing});
    registered.add("wide", wide.data(), Dtype::kF64, {2});
    registered.add("matrix", matrix.data(), Dtype::kF32, {2, 3});
    registered.add("empty", nullptr, Dtype::kF32, {0, 7});
    registered.add("scalar", nullptr, Dtype::kF32, {5, 0});
  }
};

TEST(SnapshotLayout, WiderElementsComeFirstAndDataIsAligned) {
  SmallState state;
  const SnapshotLayout layout(state.registered);
  EXPECT_EQ(layout.data_begin() % 64, 0U);
  std::string text = snapshot_of(layout, 7, {"abc"});
  EXPECT_EQ(text.find("{\"wide\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                      "\"matrix\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"),
            kHeaderLengthBytes);
  const auto header = header_of(text);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->step, 7U);
  const FoundTensor& blob = header->tensors.at("blöb \"😀\"");
  EXPECT_EQ(text.substr(blob.begin, blob.bytes), "abc");
  EXPECT_EQ(header->tensors.at("bytes").begin, layout.data_begin() + 40);
}

TEST(SnapshotLayout, HeaderKeepsItsLengthWhateverStepAndBlobs) {
  SmallState state;
  const SnapshotLayout layout(state.registered);
  for (const std::uint64_t step : {0UL, 123456UL, UINT64_MAX}) {
    for (const std::size_t bytes : {0UL, 9UL, 1000UL}) {
      std::string text = snapshot_of(layout, step, {std::string(bytes, 'x')});
      const auto header = header_of(text);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->step, step);
      EXPECT_EQ(header->tensors.at("blöb \"😀\"").bytes, bytes);
      EXPECT_EQ(header->tensors.at("wide").begin, layout.data_begin());
      EXPECT_LE(text.size(), layout.bytes_max());
    }
  }
}

TEST(SnapshotLayout, HundredThousandTinyTensorsAreOnePieceWhereTheyAreNeighbours) {
  std::vector<float> memory(100'000);
  Registered registered;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    registered.add("t" + std::to_string(i), &memory[i], Dtype::kF32, {1});
  }
  const SnapshotLayout layout(registered);
  EXPECT_EQ(layout.plan().pieces().size(), 1U);
  std::string text = snapshot_of(layout, 1, {});
  const auto header = header_of(text);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->names.size(), memory.size());
  EXPECT_EQ(fit(*header, registered, "here").plan.pieces().size(), 1U);
}

TEST(SnapshotHeader, NoByteMayBeMissingOrTooMany) {
  SmallState state;
  std::string text = snapshot_of(SnapshotLayout(state.registered), 1, {"abc"});
  ASSERT_TRUE(header_of(text));
  for (const std::size_t size : {0UL, 7UL, 8UL, 100UL, text.size() - 4, text.size() - 1}) {
    std::string torn = text.substr(0, size);
    EXPECT_FALSE(header_of(torn)) << size;
  }
  std::string longer = text + "x";
  EXPECT_FALSE(header_of(longer));
}

std::string with_header(const std::string& json, std::size_t data_bytes) {
  std::string text(kHeaderLengthBytes, '\0');
  const std::uint64_t bytes = json.size();
  std::memcpy(text.data(), &bytes, sizeof(bytes));
  return text + json + std::string(data_bytes, 'x');
}

TEST(SnapshotHeader, ForeignHeadersAreRefused) {
  std::string sound = with_header(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
  ASSERT_TRUE(header_of(sound));
  EXPECT_FALSE(header_of(sound)->step);
  for (
      const char* const json :
      {"", "[]", "7", "{\"a\":1}", R"({"a":{"dtype":"U8","shape":[2]}})",
       R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,2]}})",
       R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,3]}})",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,3]}})",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,18446744073709551615]}})",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})"}) {
    std::string text = with_header(json, 2);
    EXPECT_FALSE(header_of(text)) << json;
  }
  std::string too_long(kHeaderLengthBytes, '\xff');
  EXPECT_FALSE(header_of(too_long));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const SnapshotError& error) {
    return error.what();
  }
  return "";
}

TEST(SnapshotHeader, WhatDoesNotFitIsNamedWithBothShapes) {
  SmallState state;
  std::string text = snapshot_of(SnapshotLayout(state.registered), 1, {"abc"});
  const auto header = header_of(text);
  ASSERT_TRUE(header);
  std::array<float, 6> other{};
  const auto try_with = [&](const std::function<void(Registered&)>& add) {
    Registered registered;
    add(registered);
    return refusal([&] { fit(*header, registered, "step 1"); });
  };
  EXPECT_NE(try_with([&](Registered& to) {
              to.add("matrix", other.data(), Dtype::kF32, {3, 2});
            }).find("'matrix' is registered as F32 [3, 2], and the snapshot has it as F32 [2, 3]"),
            std::string::npos);
  EXPECT_NE(try_with([&](Registered& to) {
              to.add("matrix", other.data(), Dtype::kI32, {2, 3});
            }).find("I32 [2, 3], and the snapshot has it as F32 [2, 3]"),
            std::string::npos);
  EXPECT_NE(try_with([&](Registered& to) {
              to.add("new", other.data(), Dtype::kF32, {6});
            }).find("'new' is registered as F32 [6], and the snapshot does not have it"),
            std::string::npos);
  EXPECT_NE(try_with([&](Registered& to) {
              to.add("matrix", other.data(), Dtype::kF32, {2, 3});
            }).find("the snapshot has 'wide' F64 [2], which is not registered"),
            std::string::npos);
  EXPECT_NE(
      try_with([&](Registered& to) {
        to.add_value("bytes", other.data(), 4);
      }).find("'bytes' is registered as a blob of 4 bytes, and the snapshot has it as U8 [3]"),
      std::string::npos);
}

}  // namespace
}  // namespace outlast::sdk
