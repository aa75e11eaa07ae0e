#include "job/checker.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/yaml.h"
#include "job/fields.h"
#include "job/place.h"
#include "job/scalars.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

using Kind = YamlNode::Kind;
using Shape = ValueType::Shape;

// How a value is called: by programs ("places[1].disk") and in a sentence ("'disk'").
struct ValueName {
  std::string path;
  std::string spoken;
};

bool is_word_of(std::string_view text, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// A URL without the password or token that it may hold before its host: messages end up in logs.
std::string without_password(std::string_view text) {
  const std::size_t start = text.find("://");
  if (start == std::string_view::npos) return std::string(text);
  const std::size_t end = text.rfind('@');
  if (end == std::string_view::npos || end < start) return std::string(text);
  return fmt::format("{}***{}", text.substr(0, start + 3), text.substr(end));
}

std::string described(const YamlNode& node) {
  if (node.kind == Kind::kSequence) return "a list";
  if (node.kind == Kind::kMapping) return "a mapping";
  return quote_for_message(without_password(node.text));
}

// The cloud of a place, if it names one properly.
std::optional<Cloud> cloud_of(const YamlNode& node) {
  const YamlNode* word = node.find("cloud");
  if (word == nullptr || word->kind != Kind::kScalar) return std::nullopt;
  const auto* const found = std::find(kCloudWords.begin(), kCloudWords.end(), word->text);
  if (found == kCloudWords.end()) return std::nullopt;
  return static_cast<Cloud>(std::distance(kCloudWords.begin(), found));
}

const Field* find_field(const Record& record, std::string_view key) {
  const auto found = std::find_if(record.fields.begin(), record.fields.end(),
                                  [&](const Field& field) { return field.key == key; });
  return found == record.fields.end() ? nullptr : &*found;
}

std::string unknown_key(const Record& record, CloudSet clouds, std::string_view key) {
  std::vector<std::string_view> known;
  for (const Field& field : record.fields) {
    if ((field.taken_by & clouds) != 0) known.push_back(field.key);
  }
  std::string advice = did_you_mean(key, known);
  if (advice.empty()) advice = fmt::format("; the keys are {}", join_words(known, "and"));
  return fmt::format("{} has no key {}{}", record.what, quote_for_message(key), advice);
}

class TreeChecker {
 public:
  TreeChecker(CheckOptions options, Diagnostics& diagnostics, std::vector<std::string>& defaulted)
      : options_(options), diagnostics_(diagnostics), defaulted_(defaulted) {}

  // `path` and `spoken` go before the names of the record's keys, each with its "." where needed.
  Json check_record(const Record& record, const YamlNode& node, const std::string& path,
                    const std::string& spoken);

 private:
  // Each of these returns the canonical value, or null after adding what is wrong.
  Json check(const ValueType& type, const YamlNode& node, const ValueName& name);
  Json check_scalar(const ValueType& type, const YamlNode& node, const ValueName& name);
  Json check_count(const ValueType& type, const YamlNode& node, const ValueName& name);
  Json check_list(const ValueType& type, const YamlNode& node, const ValueName& name);
  Json check_map(const ValueType& type, const YamlNode& node, const ValueName& name);
  Json check_inner_record(const ValueType& type, const YamlNode& node, const ValueName& name);

  void check_keys(const Record& record, CloudSet clouds, const YamlNode& node,
                  const std::string& path);
  void check_missing(const Record& record, CloudSet clouds, const YamlNode& node,
                     const std::string& path, const std::string& spoken);
  bool is_given(const Field& field, const YamlNode* value) const;
  Json default_of(const Field& field);
  Json wrong(const ValueType& type, const YamlNode& node, const ValueName& name,
             std::string_view why = {});

  CheckOptions options_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& defaulted_;
};

Json TreeChecker::wrong(const ValueType& type, const YamlNode& node, const ValueName& name,
                        std::string_view why) {
  diagnostics_.add(node.position, name.path, [&] {
    std::string message =
        fmt::format("{} must be {}, not {}", name.spoken, expectation(type), described(node));
    if (!why.empty()) message += fmt::format(": {}", why);
    if (node.kind == Kind::kScalar) message += did_you_mean(node.text, type.words);
    return message;
  });
  return nullptr;
}

Json TreeChecker::check(const ValueType& type, const YamlNode& node, const ValueName& name) {
  if (node.is_null()) {
    diagnostics_.add(node.position, name.path, [&] {
      return fmt::format("{} has no value; it must be {}", name.spoken, expectation(type));
    });
    return nullptr;
  }
  switch (type.shape) {
    case Shape::kScalar:
      return check_scalar(type, node, name);
    case Shape::kCount:
      return check_count(type, node, name);
    case Shape::kList:
      return check_list(type, node, name);
    case Shape::kMap:
      return check_map(type, node, name);
    case Shape::kRecord:
      return check_inner_record(type, node, name);
  }
  return nullptr;
}

Json TreeChecker::check_scalar(const ValueType& type, const YamlNode& node, const ValueName& name) {
  if (node.kind != Kind::kScalar) return wrong(type, node, name);
  if (options_.from_json && !node.quoted) return wrong(type, node, name, "it is not a string");
  if (is_word_of(node.text, type.words)) {
    return node.text == kNone ? Json(nullptr) : Json(node.text);
  }
  if (type.read == nullptr) return wrong(type, node, name);
  ScalarReading reading = type.read(node.text);
  if (!reading) return wrong(type, node, name, reading.error());
  return *std::move(reading);
}

Json TreeChecker::check_count(const ValueType& type, const YamlNode& node, const ValueName& name) {
  if (node.kind != Kind::kScalar) return wrong(type, node, name);
  if (node.quoted) return wrong(type, node, name, "it is in quotes");
  const auto count = parse_number<std::uint64_t>(node.text);
  if (!count) return wrong(type, node, name);
  // Some readers of YAML take 010 for eight.
  if (node.text.size() > 1 && node.text.front() == '0') {
    return wrong(type, node, name, "write it without the zero in front");
  }
  if (*count < type.min || *count > type.max) return wrong(type, node, name);
  return *count;
}

Json TreeChecker::check_list(const ValueType& type, const YamlNode& node, const ValueName& name) {
  if (node.kind != Kind::kSequence) return wrong(type, node, name);
  if (node.items.empty() && !type.may_be_empty) {
    diagnostics_.add(node.position, name.path, [&] {
      return fmt::format("{} is empty; it must have at least one entry", name.spoken);
    });
  }
  Json list = Json::array();
  std::map<std::string, TextPosition> seen;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const YamlNode& item = node.items[i];
    const ValueName item_name{.path = fmt::format("{}[{}]", name.path, i),
                              .spoken = fmt::format("an entry of {}", name.spoken)};
    const std::size_t mistakes = diagnostics_.count();
    Json value = check(*type.item, item, item_name);
    if (diagnostics_.count() != mistakes) continue;
    const auto [first, added] = seen.try_emplace(canonical_json(value), item.position);
    if (!added) {
      diagnostics_.add(item.position, item_name.path, [&, where = first->second] {
        return fmt::format("this entry of {} is here twice; the first is at {}:{}", name.spoken,
                           where.line, where.column);
      });
    }
    list.push_back(std::move(value));
  }
  return list;
}

Json TreeChecker::check_map(const ValueType& type, const YamlNode& node, const ValueName& name) {
  if (node.kind != Kind::kMapping) return wrong(type, node, name);
  Json map = Json::object();
  for (const YamlMember& member : node.members) {
    const ValueName member_name{
        .path = fmt::format("{}.{}", name.path, member.key),
        .spoken = fmt::format("{} in {}", quote_for_message(member.key), name.spoken)};
    if (const ScalarReading key = type.read_key(member.key); !key) {
      diagnostics_.add(member.key_position, member_name.path, [&] {
        return fmt::format("a name in {} must be {}, not {}{}{}", name.spoken, type.key_expected,
                           quote_for_message(member.key), key.error().empty() ? "" : ": ",
                           key.error());
      });
    }
    map[member.key] = check(*type.item, member.value, member_name);
  }
  return map;
}

Json TreeChecker::check_inner_record(const ValueType& type, const YamlNode& node,
                                     const ValueName& name) {
  // Entries of a list are told apart by their position; the list's name would only be noise.
  const std::string spoken = type.record->by_cloud ? std::string() : fmt::format("{}.", name.path);
  if (node.kind == Kind::kMapping) return check_record(*type.record, node, name.path + ".", spoken);
  if (node.kind != Kind::kScalar || !is_word_of(node.text, type.words)) {
    return wrong(type, node, name);
  }
  YamlNode empty;
  empty.kind = Kind::kMapping;
  empty.position = node.position;
  return check_record(*type.record, empty, name.path + ".", spoken);
}

Json TreeChecker::check_record(const Record& record, const YamlNode& node, const std::string& path,
                               const std::string& spoken) {
  CloudSet clouds = kEveryCloud;
  if (record.by_cloud) {
    if (const auto cloud = cloud_of(node)) clouds = cloud_bit(*cloud);
  }
  check_missing(record, clouds, node, path, spoken);
  check_keys(record, clouds, node, path);
  Json object = Json::object();
  for (const YamlMember& member : node.members) {
    const Field* const field = find_field(record, member.key);
    if (field == nullptr || !is_given(*field, &member.value)) continue;
    object[member.key] = check(*field->type, member.value,
                               {.path = fmt::format("{}{}", path, member.key),
                                .spoken = fmt::format("'{}{}'", spoken, member.key)});
  }
  if (!diagnostics_.empty()) return object;
  for (const Field& field : record.fields) {
    if ((field.taken_by & clouds) == 0 || object.contains(field.key)) continue;
    object[std::string(field.key)] = default_of(field);
    defaulted_.push_back(fmt::format("{}{}", path, field.key));
  }
  return object;
}

void TreeChecker::check_keys(const Record& record, CloudSet clouds, const YamlNode& node,
                             const std::string& path) {
  for (const YamlMember& member : node.members) {
    const Field* const field = find_field(record, member.key);
    if (field != nullptr && (field->taken_by & clouds) != 0) continue;
    diagnostics_.add(member.key_position, path + member.key, [&] {
      if (field == nullptr) return unknown_key(record, clouds, member.key);
      return fmt::format("cloud {} takes no '{}'; it is for {}", join_clouds(clouds, "or"),
                         member.key, join_clouds(field->taken_by, "and"));
    });
  }
}

void TreeChecker::check_missing(const Record& record, CloudSet clouds, const YamlNode& node,
                                const std::string& path, const std::string& spoken) {
  for (const Field& field : record.fields) {
    const bool for_cloud = clouds != kEveryCloud && (field.required_by & clouds) != 0;
    if ((!field.required && !for_cloud) || node.find(field.key) != nullptr) continue;
    diagnostics_.add(node.position, fmt::format("{}{}", path, field.key), [&] {
      return fmt::format(
          "'{}{}' is missing; {} {}", spoken, field.key,
          for_cloud ? fmt::format("cloud {} needs", join_clouds(clouds, "or")) : "it must be",
          expectation(*field.type));
    });
  }
}

// In JSON, null is how a key that is not set is written.
bool TreeChecker::is_given(const Field& field, const YamlNode* value) const {
  const bool can_be_unset =
      !field.required && (field.default_yaml.empty() || field.default_yaml == kNone);
  return !(options_.from_json && value->is_null() && can_be_unset);
}

Json TreeChecker::default_of(const Field& field) {
  if (field.default_yaml.empty()) return nullptr;
  YamlNode node;
  if (field.type->shape == Shape::kScalar || field.type->shape == Shape::kCount) {
    node.text = field.default_yaml;
  } else {
    node = read_yaml(field.default_yaml).root;
  }
  // What is inside a default was not left out by anybody.
  std::vector<std::string> inner;
  return TreeChecker({}, diagnostics_, inner)
      .check(*field.type, node, {.path = std::string(field.key), .spoken = std::string(field.key)});
}

}  // namespace

void Diagnostics::add(TextPosition position, std::string key,
                      const std::function<std::string()>& message) {
  if (kept_.size() == kYamlProblemsMax) {
    ++dropped_;
    return;
  }
  kept_.push_back({position, std::move(key), message()});
}

void Diagnostics::finish(SpecReading& reading) && {
  std::sort(kept_.begin(), kept_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.position, a.key, a.message) < std::tie(b.position, b.key, b.message);
  });
  const std::size_t shown = std::min(kept_.size(), kDiagnosticsMax);
  reading.more = kept_.size() - shown + dropped_;
  kept_.resize(shown);
  reading.diagnostics = std::move(kept_);
}

Json check_tree(const Record& record, const YamlNode& root, const CheckOptions& options,
                Diagnostics& diagnostics, std::vector<std::string>& defaulted) {
  if (root.kind != Kind::kMapping) {
    diagnostics.add(root.position, "", [&] {
      return fmt::format("{} is a mapping of keys to values, such as 'name: my-job'; this is {}",
                         record.what, described(root));
    });
    return nullptr;
  }
  return TreeChecker(options, diagnostics, defaulted).check_record(record, root, "", "");
}

}  // namespace outlast::job
