#include "job/spec_json.h"

#include <fmt/core.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "base/yaml.h"
#include "job/checker.h"
#include "job/conflicts.h"
#include "job/fields.h"
#include "job/money.h"
#include "job/place.h"
#include "job/rules.h"
#include "job/spec.h"
#include "job/spec_binding.h"

namespace outlast::job {
namespace {

template <typename Enum>
Json word_of(Enum value, std::span<const std::string_view> words) {
  return words[static_cast<std::size_t>(value)];
}

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}
Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// Every key that the place's cloud takes.
Json place_to_json(const Place& place) {
  Json all = {{"cloud", to_string(place.cloud)},
              {"machine", or_null(place.machine)},
              {"region", or_null(place.region)},
              {"zone", or_null(place.zone)},
              {"image", or_null(place.image)},
              {"disk", place.disk_bytes ? Json(format_disk(*place.disk_bytes)) : Json(nullptr)},
              {"max_price", place.max_price ? Json(format_money(*place.max_price)) : Json(nullptr)},
              {"spot", place.spot ? Json(to_string(*place.spot)) : Json(nullptr)},
              {"partition", or_null(place.partition)},
              {"account", or_null(place.account)},
              {"qos", or_null(place.qos)},
              {"constraint", or_null(place.constraint)},
              {"host", or_null(place.host)},
              {"user", or_null(place.user)},
              {"port", place.port ? Json(*place.port) : Json(nullptr)}};
  for (const Field& field : place_record().fields) {
    if ((field.taken_by & cloud_bit(place.cloud)) == 0) all.erase(std::string(field.key));
  }
  return all;
}

Json notify_to_json(const Notify& notify) {
  Json on = Json::array();
  for (const NotifyEvent event : notify.on) on.push_back(word_of(event, kNotifyWords));
  return {{"webhook", notify.webhook}, {"on", on}};
}

// The tree that a job file with the same content would give, without positions. False if it is
// nested deeper than any job.
bool to_tree(const Json& json, std::size_t depth, YamlNode& node) {
  if (depth > kYamlDepthMax) return false;
  if (json.is_object()) {
    node.kind = YamlNode::Kind::kMapping;
    for (const auto& [key, value] : json.items()) {
      node.members.push_back({key, {}, {}});
      if (!to_tree(value, depth + 1, node.members.back().value)) return false;
    }
  } else if (json.is_array()) {
    node.kind = YamlNode::Kind::kSequence;
    for (const Json& item : json) {
      if (!to_tree(item, depth + 1, node.items.emplace_back())) return false;
    }
  } else if (json.is_string()) {
    node.quoted = true;
    node.text = json.get<std::string>();
  } else {
    node.text = canonical_json(json);
  }
  return true;
}

}  // namespace

Json to_json(const Spec& spec) {
  Json places = Json::array();
  for (const Place& place : spec.places) places.push_back(place_to_json(place));
  const CheckpointRules& rules = spec.checkpoint;
  return {
      {"name", spec.name.str()},
      {"root", spec.root},
      {"run", spec.run},
      {"env", spec.env},
      {"files", spec.files},
      {"git", spec.git ? Json{{"url", spec.git->url}, {"revision", spec.git->revision}} : Json()},
      {"setup", or_null(spec.setup)},
      {"container", or_null(spec.container)},
      {"checkpoint",
       {{"dir", rules.dir.value_or("auto")},
        {"every", format_every(rules.every)},
        {"keep", rules.keep}}},
      {"places", places},
      {"order", word_of(spec.order, kOrderWords)},
      {"spot", to_string(spec.spot)},
      {"deadline", spec.deadline ? Json(format_duration(*spec.deadline)) : Json()},
      {"budget", spec.budget ? Json(format_money(*spec.budget)) : Json()},
      {"grace", format_duration(spec.grace)},
      {"lifetime", spec.lifetime ? Json(format_duration(*spec.lifetime)) : Json()},
      {"retries", spec.retries},
      {"exit_codes", {{"left", spec.exit_codes.left}, {"never", spec.exit_codes.never}}},
      {"progress", {{"regex", spec.progress.regex.value_or("auto")}}},
      {"on_done", word_of(spec.on_done, kOnDoneWords)},
      {"on_failed", format_on_failed(spec.on_failed)},
      {"cache", spec.cache},
      {"notify", spec.notify ? notify_to_json(*spec.notify) : Json()},
  };
}

Result<Spec> spec_from_json(const Json& json) {
  YamlNode tree;
  if (!to_tree(json, 0, tree)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("nested more than {} deep", kYamlDepthMax));
  }
  SpecReading reading;
  Diagnostics diagnostics;
  const Json checked =
      check_tree(job_record(), tree, {.from_json = true}, diagnostics, reading.defaulted);
  find_conflicts(tree, diagnostics);
  if (diagnostics.empty()) return bind_spec(checked);
  std::move(diagnostics).finish(reading);
  const Diagnostic& first = reading.diagnostics.front();
  return Error(ErrorCode::kInvalidArgument,
               first.key.empty() ? first.message : fmt::format("{}: {}", first.key, first.message));
}

}  // namespace outlast::job
