#include "trainers/weights/pth_value.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

// Confined to its owner.
class Flattener {
 public:
  explicit Flattener(std::uint64_t file_bytes) : name_bytes_left_(64 * file_bytes + (1U << 20U)) {}

  Result<void> add(const std::string& name, PthValue& value) {
    // Names are the ways to each value: long keys above many would multiply.
    if (name.size() > name_bytes_left_) {
      return bad_weights("the names of its tensors would take far more memory than the file");
    }
    name_bytes_left_ -= name.size();
    return std::visit(
        [&](auto& held) -> Result<void> {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, PthDict>) {
            for (PthEntry& entry : held.entries) {
              OUTLAST_TRY(add(below(name, key_text(entry.key)), entry.value));
            }
          } else if constexpr (std::is_same_v<Held, PthList>) {
            std::size_t number = 0;
            for (PthValue& item : held.items) {
              OUTLAST_TRY(add(below(name, std::to_string(number++)), item));
            }
          } else if constexpr (!std::is_same_v<Held, std::monostate>) {
            OUTLAST_TRY(take_name(name));
            if constexpr (std::is_same_v<Held, WeightTensor>) {
              held.name = name;
              weights_.tensors.push_back(std::move(held));
            } else {
              weights_.scalars.emplace(name, std::move(held));
            }
          }
          return {};
        },
        value.value);
  }

  Weights take() { return std::move(weights_); }

 private:
  static std::string key_text(const PthKey& key) {
    if (const auto* text = std::get_if<std::string>(&key)) return *text;
    return std::to_string(std::get<std::int64_t>(key));
  }
  static std::string below(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "." + key;
  }
  Result<void> take_name(const std::string& name) {
    if (names_.insert(name).second) return {};
    return bad_weights(fmt::format("two values in it would both be called {}", shown_name(name)));
  }

  std::uint64_t name_bytes_left_ = 0;
  std::set<std::string> names_;
  Weights weights_;
};

}  // namespace

bool operator==(const PthList& a, const PthList& b) {
  return a.is_tuple == b.is_tuple && a.items == b.items;
}
bool operator==(const PthDict& a, const PthDict& b) {
  return a.entries == b.entries;
}
bool operator==(const PthValue& a, const PthValue& b) {
  return a.value == b.value;
}
bool operator==(const PthEntry& a, const PthEntry& b) {
  return a.key == b.key && a.value == b.value;
}

const PthValue* PthDict::find(std::string_view key) const {
  for (const PthEntry& entry : entries) {
    const auto* text = std::get_if<std::string>(&entry.key);
    if (text != nullptr && *text == key) return &entry.value;
  }
  return nullptr;
}

void PthDict::add(std::string key, PthValue value) {
  entries.push_back({.key = std::move(key), .value = std::move(value)});
}

Result<Weights> flat_weights(PthValue value, std::uint64_t file_bytes) {
  Flattener flattener(file_bytes);
  OUTLAST_TRY(flattener.add("", value));
  return flattener.take();
}

}  // namespace outlast::trainers
