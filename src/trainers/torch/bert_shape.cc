#include "trainers/torch/bert_shape.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <utility>

namespace outlast::trainers {
namespace {

constexpr std::size_t kAlignment = 16;  // numbers: 64 bytes

class ParameterList {
 public:
  void add(std::string name, std::vector<std::int64_t> shape, bool decays) {
    const auto count = static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    list_.push_back({.name = std::move(name),
                     .shape = std::move(shape),
                     .begin = bert_array_size(list_),
                     .count = count,
                     .decays = decays});
  }
  void linear(const std::string& name, std::int64_t from, std::int64_t to) {
    add(name + ".weight", {to, from}, true);
    add(name + ".bias", {to}, false);
  }
  void norm(const std::string& name, std::int64_t size) {
    add(name + ".weight", {size}, false);
    add(name + ".bias", {size}, false);
  }
  std::vector<BertParameter> take() && { return std::move(list_); }

 private:
  std::vector<BertParameter> list_;
};

bool replace_end(std::string& text, std::string_view end, std::string_view by) {
  if (!text.ends_with(end)) return false;
  text.replace(text.size() - end.size(), end.size(), by);
  return true;
}

}  // namespace

Result<BertShape> bert_shape(std::string_view size) {
  if (size == "tiny") return BertShape{.layers = 2, .hidden = 128, .heads = 2};
  if (size == "mini") return BertShape{.layers = 4, .hidden = 256, .heads = 4};
  if (size == "small") return BertShape{.layers = 4, .hidden = 512, .heads = 8};
  if (size == "medium") return BertShape{.layers = 8, .hidden = 512, .heads = 8};
  if (size == "base") return BertShape{.layers = 12, .hidden = 768, .heads = 12};
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("There is no BERT of size '{}'; take tiny, mini, small, medium or base.", size));
}

std::vector<BertParameter> bert_parameters(const BertShape& shape) {
  ParameterList list;
  const std::string embeddings = "bert.embeddings.";
  list.add(embeddings + "word_embeddings.weight", {shape.vocabulary, shape.hidden}, true);
  list.add(embeddings + "position_embeddings.weight", {shape.positions, shape.hidden}, true);
  list.add(embeddings + "token_type_embeddings.weight", {shape.token_types, shape.hidden}, true);
  list.norm(embeddings + "LayerNorm", shape.hidden);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = fmt::format("bert.encoder.layer.{}.", layer);
    list.linear(prefix + "attention.self.query", shape.hidden, shape.hidden);
    list.linear(prefix + "attention.self.key", shape.hidden, shape.hidden);
    list.linear(prefix + "attention.self.value", shape.hidden, shape.hidden);
    list.linear(prefix + "attention.output.dense", shape.hidden, shape.hidden);
    list.norm(prefix + "attention.output.LayerNorm", shape.hidden);
    list.linear(prefix + "intermediate.dense", shape.hidden, shape.intermediate());
    list.linear(prefix + "output.dense", shape.intermediate(), shape.hidden);
    list.norm(prefix + "output.LayerNorm", shape.hidden);
  }
  list.linear("bert.pooler.dense", shape.hidden, shape.hidden);
  list.linear("classifier", shape.hidden, shape.classes);
  return std::move(list).take();
}

std::size_t bert_array_size(const std::vector<BertParameter>& parameters) {
  if (parameters.empty()) return 0;
  const std::size_t end = parameters.back().begin + parameters.back().count;
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

std::string bert_parameter_name(std::string_view entry) {
  std::string name(entry);
  if (name.starts_with("cls.") || name.ends_with("position_ids")) return "";
  if (name.starts_with("embeddings.") || name.starts_with("encoder.") ||
      name.starts_with("pooler.")) {
    name = "bert." + name;
  }
  if (!replace_end(name, "LayerNorm.gamma", "LayerNorm.weight")) {
    replace_end(name, "LayerNorm.beta", "LayerNorm.bias");
  }
  return name;
}

}  // namespace outlast::trainers
