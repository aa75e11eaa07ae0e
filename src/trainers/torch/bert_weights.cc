#include "trainers/torch/bert_weights.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/random.h"

namespace outlast::trainers {
namespace {

constexpr double kDeviation = 0.02;

// Nearly normal: the sum of eight numbers of 16 bits. Whole numbers are the same everywhere, which
// logarithms and cosines are not.
float draw_weight(Random& random) {
  constexpr double kMiddle = 8 * 65535 / 2.0;
  constexpr double kSumDeviation = 53509.97;  // sqrt(8 * (65536^2 - 1) / 12)
  std::uint64_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t bits = random.next();
    for (unsigned shift = 0; shift < 64; shift += 16) sum += bits >> shift & 0xffffU;
  }
  return static_cast<float>((static_cast<double>(sum) - kMiddle) / kSumDeviation * kDeviation);
}

template <class Number>
void convert(const Bytes& data, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, data.data() + i * sizeof(Number), sizeof(Number));
    to[i] = static_cast<float>(number);
  }
}

bool is_number_type(checkpoint::Dtype dtype) {
  return dtype == checkpoint::Dtype::kF32 || dtype == checkpoint::Dtype::kF64 ||
         dtype == checkpoint::Dtype::kF16 || dtype == checkpoint::Dtype::kBF16;
}

void copy_numbers(const WeightTensor& tensor, std::size_t count, float* to) {
  switch (tensor.dtype) {
    case checkpoint::Dtype::kF64:
      return convert<double>(tensor.data, count, to);
    case checkpoint::Dtype::kF16:
      return convert<c10::Half>(tensor.data, count, to);
    case checkpoint::Dtype::kBF16:
      return convert<c10::BFloat16>(tensor.data, count, to);
    default:
      return convert<float>(tensor.data, count, to);
  }
}

Error unfit(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

std::vector<std::uint64_t> shape_of(const BertParameter& parameter) {
  return {parameter.shape.begin(), parameter.shape.end()};
}

Result<void> check_fits(const BertParameter& parameter, const WeightTensor& tensor) {
  if (tensor.shape != shape_of(parameter)) {
    return unfit(fmt::format(
        "{} is {} there and {} in this model: another --size, vocabulary or number of classes",
        tensor.name, fmt::join(tensor.shape, " x "), fmt::join(parameter.shape, " x ")));
  }
  if (!is_number_type(tensor.dtype)) {
    return unfit(fmt::format("{} holds {}, not F32, F64, F16 or BF16", tensor.name,
                             checkpoint::to_string(tensor.dtype)));
  }
  return {};
}

bool is_of_head(const std::string& name) {
  return name.starts_with("classifier.") || name.starts_with("bert.pooler.");
}

}  // namespace

void begin_bert(const std::vector<BertParameter>& parameters, std::uint64_t seed, float* values) {
  Random random(seed);
  for (const BertParameter& parameter : parameters) {
    float* to = values + parameter.begin;
    const bool is_norm = parameter.name.ends_with("LayerNorm.weight");
    for (std::size_t i = 0; i < parameter.count; ++i) {
      to[i] = is_norm ? 1.0F : parameter.decays ? draw_weight(random) : 0.0F;
    }
  }
}

Weights bert_weights(const std::vector<BertParameter>& parameters, const float* values) {
  Weights weights;
  for (const BertParameter& parameter : parameters) {
    const auto bytes = std::as_bytes(std::span(values + parameter.begin, parameter.count));
    weights.tensors.push_back({.name = parameter.name,
                               .dtype = checkpoint::Dtype::kF32,
                               .shape = shape_of(parameter),
                               .data = Bytes(bytes.begin(), bytes.end())});
  }
  return weights;
}

Result<void> load_bert(const std::vector<BertParameter>& parameters, const Weights& weights,
                       const BertLoading& loading, float* values) {
  std::map<std::string, const WeightTensor*> found;
  for (const WeightTensor& tensor : weights.tensors) {
    const std::string name = bert_parameter_name(tensor.name);
    if (!name.empty()) found.emplace(name, &tensor);
  }
  std::vector<std::pair<const BertParameter*, const WeightTensor*>> fitting;
  for (const BertParameter& parameter : parameters) {
    const auto entry = found.find(parameter.name);
    if (entry == found.end()) {
      if (loading.may_lack_head && is_of_head(parameter.name)) continue;
      return unfit(fmt::format("{} is missing there; in this model it is {}", parameter.name,
                               fmt::join(parameter.shape, " x ")));
    }
    OUTLAST_TRY(check_fits(parameter, *entry->second));
    fitting.emplace_back(&parameter, entry->second);
    found.erase(entry);
  }
  if (!found.empty()) {
    const WeightTensor& tensor = *found.begin()->second;
    return unfit(fmt::format("{} is {} there, and this model has none: another --size or model",
                             tensor.name, fmt::join(tensor.shape, " x ")));
  }
  for (const auto& [parameter, tensor] : fitting) {
    copy_numbers(*tensor, parameter->count, values + parameter->begin);
  }
  return {};
}

}  // namespace outlast::trainers
