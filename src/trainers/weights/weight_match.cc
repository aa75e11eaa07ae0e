#include "trainers/weights/weight_match.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

// "2 are missing ("a", "b")"; the first few of them.
std::string listed(const std::vector<std::string_view>& names, std::string_view what) {
  constexpr std::size_t kListedMax = 3;
  std::string text =
      fmt::format("{} {} {} (", names.size(), names.size() == 1 ? "is" : "are", what);
  for (std::size_t i = 0; i < names.size() && i < kListedMax; ++i) {
    text += (i == 0 ? "" : ", ") + shown_name(names[i]);
  }
  return text + (names.size() > kListedMax ? ", …)" : ")");
}

}  // namespace

Result<void> match(const Weights& have, const std::vector<WantedTensor>& wanted) {
  std::map<std::string_view, const WeightTensor*> by_name;
  for (const WeightTensor& tensor : have.tensors) by_name.emplace(tensor.name, &tensor);
  std::set<std::string_view> known;
  std::vector<std::string_view> missing;
  std::vector<std::string_view> unexpected;
  for (const WantedTensor& tensor : wanted) {
    known.insert(tensor.name);
    if (!by_name.contains(tensor.name)) missing.push_back(tensor.name);
  }
  for (const WeightTensor& tensor : have.tensors) {
    if (!known.contains(tensor.name)) unexpected.push_back(tensor.name);
  }
  if (!missing.empty() || !unexpected.empty()) {
    std::string what = missing.empty() ? "" : listed(missing, "missing");
    if (!unexpected.empty()) {
      what += (what.empty() ? "" : " and ") + listed(unexpected, "not expected");
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("of the {} tensors that the model has, {}", wanted.size(), what));
  }
  for (const WantedTensor& want : wanted) {
    const WeightTensor& tensor = *by_name.at(want.name);
    if (tensor.shape == want.shape && tensor.dtype == want.dtype) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {} has shape {} of {}, and the model wants {} of {}",
                             shown_name(want.name), shown_shape(tensor.shape),
                             checkpoint::to_string(tensor.dtype), shown_shape(want.shape),
                             checkpoint::to_string(want.dtype)));
  }
  return {};
}

}  // namespace outlast::trainers
