#include "job/spec_binding.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "job/money.h"
#include "job/place.h"
#include "job/rules.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

// The value of something that was checked before.
template <typename T>
T certain(Result<T> result) {
  OUTLAST_CHECK(result.has_value(), "checked value: {}", result.error().to_string());
  return *std::move(result);
}

std::string text_at(const Json& object, std::string_view key) {
  return certain(json_string(object, key));
}

bool is_set(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

std::optional<std::string> optional_text(const Json& object, std::string_view key) {
  if (!is_set(object, key)) return std::nullopt;
  return text_at(object, key);
}

std::string text_or_empty(const Json& object, std::string_view key) {
  return optional_text(object, key).value_or("");
}

// The enumerator whose word this is.
template <typename Enum>
Enum from_word(std::string_view word, std::span<const std::string_view> words) {
  const auto found = std::find(words.begin(), words.end(), word);
  OUTLAST_CHECK(found != words.end(), "checked word '{}'", word);
  return static_cast<Enum>(std::distance(words.begin(), found));
}

Place bind_place(const Json& json) {
  Place place;
  place.cloud = from_word<Cloud>(text_at(json, "cloud"), kCloudWords);
  place.machine = text_or_empty(json, "machine");
  place.region = text_or_empty(json, "region");
  place.zone = text_or_empty(json, "zone");
  place.image = text_or_empty(json, "image");
  if (is_set(json, "disk")) place.disk_bytes = certain(parse_bytes(text_at(json, "disk")));
  if (is_set(json, "max_price")) {
    place.max_price = certain(parse_money(text_at(json, "max_price")));
  }
  if (is_set(json, "spot")) place.spot = from_word<SpotPolicy>(text_at(json, "spot"), kSpotWords);
  place.partition = text_or_empty(json, "partition");
  place.account = text_or_empty(json, "account");
  place.qos = text_or_empty(json, "qos");
  place.constraint = text_or_empty(json, "constraint");
  place.host = text_or_empty(json, "host");
  place.user = text_or_empty(json, "user");
  if (is_set(json, "port")) {
    place.port = static_cast<std::uint16_t>(certain(json_uint(json, "port")));
  }
  return place;
}

CheckpointRules bind_checkpoint(const Json& json) {
  CheckpointRules rules;
  if (const std::string dir = text_at(json, "dir"); dir != "auto") rules.dir = dir;
  rules.every = certain(parse_every(text_at(json, "every")));
  rules.keep = certain(json_uint(json, "keep"));
  return rules;
}

ExitCodes bind_exit_codes(const Json& json) {
  return {.left = static_cast<int>(certain(json_uint(json, "left"))),
          .never = static_cast<int>(certain(json_uint(json, "never")))};
}

Notify bind_notify(const Json& json) {
  Notify notify;
  notify.webhook = text_at(json, "webhook");
  for (const Json& event : json.at("on")) {
    notify.on.push_back(from_word<NotifyEvent>(event.get<std::string>(), kNotifyWords));
  }
  return notify;
}

}  // namespace

Spec bind_spec(const Json& checked) {
  Spec spec;
  spec.name = JobName(text_at(checked, "name"));
  spec.root = text_at(checked, "root");
  spec.run = text_at(checked, "run");
  for (const auto& [name, value] : checked.at("env").items()) spec.env[name] = value;
  spec.files = checked.at("files").get<std::vector<std::string>>();
  if (is_set(checked, "git")) {
    const Json& git = checked.at("git");
    spec.git = GitSource{.url = text_at(git, "url"), .revision = text_at(git, "revision")};
  }
  spec.setup = optional_text(checked, "setup");
  spec.container = optional_text(checked, "container");
  spec.checkpoint = bind_checkpoint(checked.at("checkpoint"));
  for (const Json& place : checked.at("places")) spec.places.push_back(bind_place(place));
  spec.order = from_word<Order>(text_at(checked, "order"), kOrderWords);
  spec.spot = from_word<SpotPolicy>(text_at(checked, "spot"), kSpotWords);
  if (is_set(checked, "deadline")) {
    spec.deadline = certain(parse_duration(text_at(checked, "deadline")));
  }
  if (is_set(checked, "budget")) spec.budget = certain(parse_money(text_at(checked, "budget")));
  spec.grace = certain(parse_duration(text_at(checked, "grace")));
  if (is_set(checked, "lifetime")) {
    spec.lifetime = certain(parse_duration(text_at(checked, "lifetime")));
  }
  spec.retries = certain(json_uint(checked, "retries"));
  spec.exit_codes = bind_exit_codes(checked.at("exit_codes"));
  if (const std::string regex = text_at(checked.at("progress"), "regex"); regex != "auto") {
    spec.progress.regex = regex;
  }
  spec.on_done = from_word<OnDone>(text_at(checked, "on_done"), kOnDoneWords);
  spec.on_failed = certain(parse_on_failed(text_at(checked, "on_failed")));
  spec.cache = checked.at("cache").get<std::vector<std::string>>();
  if (is_set(checked, "notify")) spec.notify = bind_notify(checked.at("notify"));
  return spec;
}

}  // namespace outlast::job
