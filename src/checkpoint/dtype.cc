#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "checkpoint/safetensors.h"

namespace outlast::checkpoint {
namespace {

struct DtypeRow {
  std::string_view name;
  unsigned bits;
  unsigned width;
};

// In the order of Dtype.
constexpr std::array<DtypeRow, 22> kDtypes = {{
    {"BOOL", 8, 1},    {"F4", 4, 1},          {"F6_E2M3", 6, 1},     {"F6_E3M2", 6, 1},
    {"U8", 8, 1},      {"I8", 8, 1},          {"F8_E5M2", 8, 1},     {"F8_E4M3", 8, 1},
    {"F8_E8M0", 8, 1}, {"F8_E4M3FNUZ", 8, 1}, {"F8_E5M2FNUZ", 8, 1}, {"I16", 16, 2},
    {"U16", 16, 2},    {"F16", 16, 2},        {"BF16", 16, 2},       {"I32", 32, 4},
    {"U32", 32, 4},    {"F32", 32, 4},        {"C64", 64, 4},        {"F64", 64, 8},
    {"I64", 64, 8},    {"U64", 64, 8},
}};
static_assert(kDtypes.size() == static_cast<std::size_t>(Dtype::kU64) + 1);

const DtypeRow& row_of(Dtype dtype) {
  return kDtypes.at(static_cast<std::size_t>(dtype));
}

}  // namespace

std::string_view to_string(Dtype dtype) {
  return row_of(dtype).name;
}

std::optional<Dtype> parse_dtype(std::string_view name) {
  const auto* const found = std::ranges::find(kDtypes, name, &DtypeRow::name);
  if (found == kDtypes.end()) return std::nullopt;
  return static_cast<Dtype>(found - kDtypes.begin());
}

unsigned bits_of(Dtype dtype) {
  return row_of(dtype).bits;
}

unsigned width_of(Dtype dtype) {
  return row_of(dtype).width;
}

}  // namespace outlast::checkpoint
