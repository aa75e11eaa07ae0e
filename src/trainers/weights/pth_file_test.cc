#include "trainers/weights/pth_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/testing/made_weights.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers::testing {
namespace {
namespace pth_file_test {

using checkpoint::Dtype;

std::string pth_refusal(const Bytes& file) {
  const auto parsed = parse_pth(file);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code(), ErrorCode::kCorrupt);
  return parsed.error().to_string();
}

std::string pickled(std::string_view operations) {
  return "\x80\x02" + std::string(operations) + ".";
}

// The tensor that these operations make, and what becomes of its bytes.
WeightTensor tensor_of(const TensorOps& ops) {
  const auto parsed = parse_pth(pth_of(pickled(tensor_op(ops))));
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed ? std::get<WeightTensor>(parsed->value) : WeightTensor();
}

// Which of the six floats of the storage they are.
std::vector<int> places(const WeightTensor& tensor) {
  std::vector<int> found;
  for (std::size_t i = 0; i < tensor.data.size(); i += 4) {
    found.push_back(std::to_integer<int>(tensor.data[i]) / 4);
  }
  return found;
}

PthValue checkpoint_value() {
  PthDict state;
  state.add("conv1.weight", {counting("", Dtype::kF32, {2, 3})});
  state.add("steps", {counting("", Dtype::kI64, {})});
  PthDict moments;
  moments.entries.push_back({.key = std::int64_t{0}, .value = {counting("", Dtype::kBF16, {5})}});
  PthDict optimizer;
  optimizer.add("state", {moments});
  optimizer.add("betas", {PthList{.items = {PthValue{0.9}, PthValue{0.999}}, .is_tuple = true}});
  PthDict all;
  all.add("epoch", {std::int64_t{3}});
  all.add("model_state_dict", {state});
  all.add("optimizer_state_dict", {optimizer});
  all.add("loss", {0.25});
  all.add("best", {true});
  all.add("nothing", {});
  all.add("seed", {std::int64_t{-5'000'000'000}});
  all.add("who", {std::string("Größe")});
  return {all};
}

TEST(PthFile, ATreeIsReadAsItWasWritten) {
  sys::testing::real_world().run([](sys::World& world, const std::string& dir) {
    const std::string path = dir + "/a.pth";
    const PthValue value = checkpoint_value();
    const auto written = write_pth(world.files, path, value);
    ASSERT_TRUE(written) << written.error().to_string();
    const auto read = read_pth(world.files, path);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, value);
    const auto* loss = std::get<PthDict>(read->value).find("loss");
    ASSERT_NE(loss, nullptr);
    EXPECT_EQ(std::get<double>(loss->value), 0.25);
    EXPECT_EQ(std::get<PthDict>(read->value).find("none"), nullptr);
    EXPECT_FALSE(world.files.stat(path + ".tmp"));
  });
}

TEST(PthFile, WhatCannotBeWrittenLeavesTheOldFile) {
  sys::testing::real_world().run([](sys::World& world, const std::string& dir) {
    const std::string path = dir + "/a.pth";
    ASSERT_TRUE(sys::write_file_atomically(world.files, path, as_bytes("old")));
    const auto refusal = [&](const Weights& weights) {
      const auto written = write_pth(world.files, path, weights);
      if (written) return std::string("written");
      EXPECT_EQ(written.error().code(), ErrorCode::kInvalidArgument);
      return written.error().to_string().substr(("write weights to " + path).size());
    };
    WeightTensor cut = counting("c", Dtype::kF32, {2, 3});
    cut.data.pop_back();
    EXPECT_EQ(refusal({.tensors = {cut}}),
              ": tensor \"c\": the shape [2,3] of F32 does not need the 23 bytes that are there");
    EXPECT_EQ(refusal({.tensors = {counting("c", Dtype::kF4, {2})}}),
              ": tensor \"c\": PyTorch's files have no dtype F4");
    EXPECT_EQ(refusal({.tensors = {counting("c", Dtype::kI8, {}), counting("c", Dtype::kI8, {})}}),
              ": two tensors are called \"c\"");
    EXPECT_NE(refusal({.tensors = {counting("\xff", Dtype::kI8, {})}}).find("not UTF-8"),
              std::string::npos);
    EXPECT_EQ(sys::read_file(world.files, path, 100).value(), "old");
    // Nor does a folder that is not there get half a file.
    EXPECT_FALSE(write_pth(world.files, dir + "/none/a.pth", Weights()));
  });
}

TEST(PthFile, ViewsAreGatheredInOrder) {
  EXPECT_EQ(places(tensor_of({})), (std::vector{0, 1, 2, 3, 4, 5}));
  const WeightTensor turned = tensor_of({.shape = "K\x03K\x02\x86", .stride = "K\x01K\x03\x86"});
  EXPECT_EQ(turned.shape, (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(places(turned), (std::vector{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(places(tensor_of({.offset = "K\x01", .shape = "K\x02\x85", .stride = "K\x03\x85"})),
            (std::vector{1, 4}));
  const std::string none("K\0", 2);
  EXPECT_EQ(places(tensor_of({.shape = "K\x02K\x02\x86", .stride = none + "K\x01\x86"})),
            (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(places(tensor_of({.offset = "K\x05", .shape = ")", .stride = ")"})), (std::vector{5}));
  EXPECT_EQ(places(tensor_of({.shape = none + "\x85", .stride = "K\x01\x85"})), std::vector<int>());
}

TEST(PthFile, AStorageThatIsTooSmallIsRefusedWithBothSizes) {
  const auto refusal = [](const TensorOps& ops) {
    return pth_refusal(pth_of(pickled("}" + text_op("w") + tensor_op(ops) + "s")));
  };
  EXPECT_EQ(refusal({.offset = "K\x01"}),
            "\"w\": storage \"0\" has 6 elements and the shape [2,3] from element 1 needs 7");
  EXPECT_EQ(refusal({.elements = "K\x07"}),
            "\"w\": storage \"0\" has 24 bytes and 28 are expected");
  EXPECT_EQ(refusal({.key = "9"}), "\"w\": storage \"9\" is not in the file");
  EXPECT_EQ(refusal({.storage = "ctorch\nComplexDoubleStorage\n"}),
            "\"w\": storage \"0\": the dtype of torch.ComplexDoubleStorage is not known here");
  EXPECT_NE(refusal({.offset = "J\xff\xff\xff\xff"}).find("none negative"), std::string::npos);
  const std::string huge = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_NE(refusal({.stride = huge + huge + "\x86"}).find("more than there are numbers"),
            std::string::npos);
  EXPECT_NE(refusal({.shape = huge + huge + "\x86"}).find("beyond any file"), std::string::npos);
}

// A few bytes could otherwise ask for all memory there is.
TEST(PthFile, RepeatedElementsAreLimited) {
  const std::string none("K\0", 2);
  const auto refusal = [](const std::string& pickle) { return pth_refusal(pth_of(pickle)); };
  EXPECT_NE(refusal(pickled(tensor_op({.shape = "J\xff\xff\xff\x7f\x85", .stride = none + "\x85"})))
                .find("repeats elements of its storage"),
            std::string::npos);
  // Lists that hold the one before them twice, thirty times over.
  std::string doubling = "]q\x01";
  for (int i = 0; i < 30; ++i)
    doubling +=
        "](h\x01h\x01"
        "eq\x01";
  EXPECT_EQ(refusal(pickled(doubling)), "it repeats its own parts too often");
  EXPECT_EQ(refusal(pickled("]q\x01h\x01"
                            "a")),
            "it is nested deeper than 100, or within itself");
  std::string deep(200, ']');
  deep.append(199, 'a');
  EXPECT_EQ(refusal(pickled(deep)), "it is nested deeper than 100, or within itself");
  std::string texts = text_op(std::string(100, 'x')) + "q\x01](";
  for (int i = 0; i < 5000; ++i) texts += "h\x01";
  EXPECT_EQ(refusal(pickled("]" + texts + "e")), "accepted");
}

TEST(PthFile, AKeyThatComesAgainChangesTheValue) {
  const auto parsed = parse_pth(pth_of(
      pickled("}(" + text_op("a") + "K\x01" + text_op("b") + "K\x02" + text_op("a") + "K\x03u")));
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  PthDict expected;
  expected.add("a", {std::int64_t{3}});
  expected.add("b", {std::int64_t{2}});
  EXPECT_EQ(std::get<PthDict>(parsed->value), expected);
}

TEST(PthFile, OtherByteOrdersAndOtherZipsAreRefused) {
  const std::string pickle = pickled("}");
  EXPECT_EQ(pth_refusal(zip_of({{.name = "a/data.pkl", .content = as_bytes(pickle)},
                                {.name = "a/byteorder", .content = as_bytes("big")}})),
            "its byte order is \"big\", and only \"little\" can be read here");
  EXPECT_EQ(pth_refusal(zip_of({{.name = "word/document.xml"}})),
            "it is a zip file without the entry NAME/data.pkl that torch.save() writes");
  EXPECT_EQ(pth_refusal(legacy_pth_of(pickle, false)),
            "it was written by a big-endian machine: save it again on a little-endian one");
  EXPECT_EQ(pth_refusal(bytes_of(pickle)), "it is a pickle, and not one that torch.save() wrote");
}

TEST(PthFile, TheOldFormatIsReadWithItsViewsOfStorages) {
  const auto whole = parse_pth(legacy_pth_of(pickled(tensor_op({.view = "N"}))));
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(places(std::get<WeightTensor>(whole->value)), (std::vector{0, 1, 2, 3, 4, 5}));
  const auto part = parse_pth(legacy_pth_of(pickled(
      tensor_op({.view = "NK\x02K\x03\x87", .shape = "K\x03\x85", .stride = "K\x01\x85"}))));
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_EQ(places(std::get<WeightTensor>(part->value)), (std::vector{2, 3, 4}));
  EXPECT_NE(pth_refusal(legacy_pth_of(pickled(tensor_op({.view = "NK\x04K\x03\x87"}))))
                .find("its view is not within it"),
            std::string::npos);
}

TEST(PthFile, AnOldFileThatWasCutShortSaysWhatIsMissing) {
  Bytes file = legacy_pth_of(pickled(tensor_op({})));
  file.pop_back();
  const std::size_t size = file.size();
  EXPECT_EQ(pth_refusal(file),
            "storage \"0\" at byte " + std::to_string(size - 23) +
                " should have 24 bytes and 23 are found: the file was cut short");
  file.resize(size + 2);
  EXPECT_EQ(pth_refusal(file), "its last storage ends at byte " + std::to_string(size + 1) +
                                   ", and it has " + std::to_string(size + 2));
  EXPECT_NE(pth_refusal(legacy_pth_of(pickled(tensor_op({.elements = "K\x05"}))))
                .find("has 6 elements and 5 are expected"),
            std::string::npos);
}

}  // namespace pth_file_test
}  // namespace
}  // namespace outlast::trainers::testing
