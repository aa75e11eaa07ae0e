#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace {
namespace safetensors_test {

// A file with this header, whatever it says, and so many bytes of data.
Bytes file_of(std::string_view header, std::size_t data_bytes) {
  Bytes file;
  for (unsigned i = 0; i < 8; ++i) file.push_back(static_cast<std::byte>(header.size() >> (8 * i)));
  const BytesView text = as_bytes(header);
  file.insert(file.end(), text.begin(), text.end());
  file.resize(file.size() + data_bytes);
  return file;
}

std::string refusal(std::string_view header, std::size_t data_bytes) {
  const auto parsed = parse_safetensors(file_of(header, data_bytes));
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code(), ErrorCode::kCorrupt);
  return parsed.error().to_string();
}

std::string tensor(std::string_view name, std::string_view facts) {
  return R"({")" + std::string(name) + R"(":{)" + std::string(facts) + "}}";
}

TEST(Safetensors, TensorsComeInTheOrderOfTheirBytes) {
  const std::string header = R"({"b":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("__metadata__":{"format":"pt"},)"
                             R"("a":{"dtype":"I8","shape":[],"data_offsets":[8,9]},)"
                             R"("empty":{"dtype":"BF16","shape":[3,0],"data_offsets":[8,8]}}    )";
  const Bytes bytes = file_of(header, 9);
  const std::uint64_t begin = 8 + header.size();
  EXPECT_TRUE(may_be_safetensors(BytesView(bytes).first(9), bytes.size()));
  const auto file = parse_safetensors(bytes);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(*file, (Safetensors{.data_begin = begin,
                                .size = begin + 9,
                                .tensors = {{.name = "b",
                                             .dtype = Dtype::kF32,
                                             .shape = {2, 1},
                                             .begin = begin,
                                             .end = begin + 8},
                                            {.name = "empty",
                                             .dtype = Dtype::kBF16,
                                             .shape = {3, 0},
                                             .begin = begin + 8,
                                             .end = begin + 8},
                                            {.name = "a",
                                             .dtype = Dtype::kI8,
                                             .shape = {},
                                             .begin = begin + 8,
                                             .end = begin + 9}},
                                .metadata = {{"format", "pt"}}}));
}

TEST(Safetensors, OddHeadersAreRefusedWithASentence) {
  EXPECT_EQ(refusal("", 0), "not a sound safetensors file: its header does not begin with '{'");
  EXPECT_EQ(refusal(" {}", 0), "not a sound safetensors file: its header does not begin with '{'");
  EXPECT_EQ(refusal("{}", 1),
            "not a sound safetensors file: its tensors end at byte 10, and it has 11");
  EXPECT_EQ(refusal("{]", 0), "not a sound safetensors file: its header: not JSON at byte 2");
  EXPECT_EQ(refusal(tensor("a", R"("dtype":"X9","shape":[],"data_offsets":[0,1])"), 1),
            R"(not a sound safetensors file: tensor "a": the dtype "X9" is not known here)");
  EXPECT_EQ(
      refusal(tensor("a", R"("dtype":"U8","shape":[2],"data_offsets":[0,1])"), 1),
      "not a sound safetensors file: tensor \"a\": its dtype and shape do not need the 1 bytes "
      "it has");
  EXPECT_EQ(refusal(tensor("a", R"("dtype":"U8","shape":[1],"data_offsets":[1,2])"), 2),
            "not a sound safetensors file: tensor \"a\": there is a hole before it");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                    3),
            "not a sound safetensors file: tensor \"b\": it overlaps the one before it");
}

TEST(Safetensors, HostileHeadersAreRefused) {
  const char* const facts[] = {
      R"("dtype":"U8","shape":[1])",
      R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1)",
      R"("dtype":8,"shape":[1],"data_offsets":[0,1])",
      R"("dtype":"U8","shape":1,"data_offsets":[0,1])",
      R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])",
      R"("dtype":"U8","shape":[1.0],"data_offsets":[0,1])",
      R"("dtype":"U8","shape":["1"],"data_offsets":[0,1])",
      R"("dtype":"U8","shape":[[1]],"data_offsets":[0,1])",
      R"("dtype":"U8","shape":[1],"data_offsets":[0])",
      R"("dtype":"U8","shape":[1],"data_offsets":[0,1,2])",
      R"("dtype":"U8","shape":[1],"data_offsets":[1,0])",
      R"("dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551616])",
      // Products that come around to 1.
      R"("dtype":"F64","shape":[2305843009213693952,8],"data_offsets":[0,0])",
      R"("dtype":"U8","shape":[18446744073709551615,18446744073709551615],"data_offsets":[0,1])",
      // Ends that do.
      R"("dtype":"U8","shape":[1],"data_offsets":[18446744073709551614,18446744073709551615])",
      R"("dtype":"F4","shape":[1],"data_offsets":[0,1])",
      R"("dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1])",
  };
  for (const char* fact : facts) EXPECT_NE(refusal(tensor("a", fact), 1), "accepted") << fact;
  const std::string good = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(refusal(R"({"a":)" + good + "}", 1), "accepted");
  EXPECT_NE(refusal(R"({"a":)" + good + R"(,"a":)" + good + "}", 1), "accepted");
  EXPECT_NE(refusal(R"({"a":)" + good + "}x", 1), "accepted");
  EXPECT_NE(refusal(R"({"__metadata__":{"a":1}})", 0), "accepted");
  EXPECT_NE(refusal(R"({"__metadata__":[]})", 0), "accepted");
  EXPECT_NE(refusal(R"({"a":1})", 1), "accepted");
  EXPECT_NE(refusal(tensor("\\u0000", R"("dtype":"U8","shape":[1],"data_offsets":[0,2])"), 2),
            "accepted");
}

TEST(Safetensors, EveryMissingByteIsNoticed) {
  const Bytes bytes = file_of(tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8);
  ASSERT_TRUE(parse_safetensors(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_safetensors(BytesView(bytes).first(size))) << size;
  }
}

TEST(Safetensors, LengthsThatCannotBeAreRefusedAtAGlance) {
  for (const char* hex : {"", "02000000000000", "03000000000000007b7d", "ffffffffffffffff7b7d",
                          "00e1f505000000807b7d", "02000000000000007d7b"}) {
    const Bytes bytes = *hex_decode(hex);
    EXPECT_FALSE(may_be_safetensors(bytes, bytes.size())) << hex;
    EXPECT_FALSE(parse_safetensors(bytes)) << hex;
  }
  EXPECT_FALSE(may_be_safetensors(*hex_decode("01e1f505000000007b"), std::uint64_t{1} << 40U));
  EXPECT_TRUE(may_be_safetensors(*hex_decode("00e1f505000000007b"), std::uint64_t{1} << 40U));
}

TEST(Safetensors, EveryDtypeHasItsNameAndSize) {
  const std::map<std::string_view, unsigned> bits = {
      {"BOOL", 8}, {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},   {"F8_E5M2", 8},     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"I16", 16}, {"F8_E5M2FNUZ", 8}, {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32}, {"U32", 32},        {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64}, {"U64", 64}};
  for (const auto& [name, size] : bits) {
    const auto dtype = parse_dtype(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_EQ(to_string(*dtype), name);
    EXPECT_EQ(bits_of(*dtype), size) << name;
    EXPECT_EQ(width_of(*dtype), name == "C64" ? 4 : size < 8 ? 1 : size / 8) << name;
  }
  EXPECT_FALSE(parse_dtype("f32"));
}

TEST(Safetensors, WhatWasWrittenIsRead) {
  sys::testing::real_world().run([](sys::World& world, const std::string& folder) {
    const Bytes bytes = *hex_decode("000102030405060708090a0b0c0d0e0f");
    const BytesView view = bytes;
    const std::vector<TensorBytes> tensors = {
        {.name = "byte", .dtype = Dtype::kU8, .shape = {3}, .bytes = view.first(3)},
        {.name = "zwei", .dtype = Dtype::kF16, .shape = {1, 2}, .bytes = view.first(4)},
        {.name = "a\u00e9\"\n", .dtype = Dtype::kF64, .shape = {}, .bytes = view.first(8)},
        {.name = "none", .dtype = Dtype::kF64, .shape = {0}, .bytes = {}},
        {.name = "also", .dtype = Dtype::kF16, .shape = {1}, .bytes = view.last(2)}};
    const auto file = world.files.open(folder + "/t.safetensors", sys::OpenMode::kCreateExclusive);
    ASSERT_TRUE(file) << file.error().to_string();
    ASSERT_TRUE((*file)->write_at(Bytes(4096), 0));  // of an older, longer file
    const auto written = write_safetensors(**file, tensors, {{"step", "7"}});
    ASSERT_TRUE(written) << written.error().to_string();

    const auto read = read_safetensors(**file);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->metadata, (std::map<std::string, std::string>{{"step", "7"}}));
    EXPECT_EQ(read->data_begin % 8, 0U);
    const auto text = sys::read_file(world.files, folder + "/t.safetensors", 4096);
    ASSERT_TRUE(text);
    EXPECT_EQ(*parse_safetensors(as_bytes(*text)), *read);
    std::string order;
    for (const Tensor& tensor : read->tensors) {
      order += tensor.name + ' ';
      EXPECT_EQ(tensor.begin % width_of(tensor.dtype), 0U);
      for (const TensorBytes& source : tensors) {
        if (source.name != tensor.name) continue;
        EXPECT_EQ(source.shape, tensor.shape);
        EXPECT_EQ(std::string_view(*text).substr(tensor.begin, tensor.end - tensor.begin),
                  as_text(source.bytes));
      }
    }
    EXPECT_EQ(order, "a\u00e9\"\n none also zwei byte ");
  });
}

TEST(Safetensors, WhatCannotBeWrittenIsRefused) {
  const Bytes four(4);
  const auto refused = [&](const std::vector<TensorBytes>& tensors) {
    const auto plan = plan_safetensors(tensors, {});
    return plan ? std::string("accepted") : plan.error().to_string();
  };
  const TensorBytes good = {.name = "a", .dtype = Dtype::kF32, .shape = {1}, .bytes = four};
  EXPECT_EQ(refused({good}), "accepted");
  EXPECT_EQ(refused({good, good}), R"(cannot write tensor "a": there is another of this name)");
  TensorBytes bad = good;
  bad.shape = {2};
  EXPECT_EQ(refused({bad}),
            R"(cannot write tensor "a": its dtype and shape do not need the 4 bytes it has)");
  bad = good;
  bad.name = "__metadata__";
  EXPECT_NE(refused({bad}), "accepted");
  bad.name = "\xff";
  EXPECT_NE(refused({bad}), "accepted");
  EXPECT_FALSE(plan_safetensors({good}, {{"a", "\xff"}}));
}

}  // namespace safetensors_test
}  // namespace
}  // namespace outlast::checkpoint
