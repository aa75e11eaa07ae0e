#include "job/conflicts.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/units.h"
#include "base/yaml.h"
#include "job/checker.h"
#include "job/place.h"
#include "job/rules.h"
#include "job/spec.h"
#include "job/work_path.h"

namespace outlast::job {
namespace {

// A scalar member that is set, or nullptr.
const YamlNode* scalar_member(const YamlNode* node, std::string_view key) {
  const YamlNode* const value = node == nullptr ? nullptr : node->find(key);
  const bool set = value != nullptr && value->kind == YamlNode::Kind::kScalar && !value->is_null();
  return set ? value : nullptr;
}

// Where zones are named after their region, a zone of another region is a slip of the pen that
// would show only when the cloud says no.
void check_zone(const YamlNode& place, const std::string& path, Diagnostics& diagnostics) {
  const YamlNode* const cloud = scalar_member(&place, "cloud");
  const YamlNode* const region = scalar_member(&place, "region");
  const YamlNode* const zone = scalar_member(&place, "zone");
  if (cloud == nullptr || region == nullptr || zone == nullptr) return;
  if (cloud->text != to_string(Cloud::kGcp) && cloud->text != to_string(Cloud::kAws)) return;
  if (zone->text.starts_with(region->text)) return;
  diagnostics.add(zone->position, path + ".zone", [&] {
    return fmt::format("zone {} is not in region {}", quote_for_message(zone->text),
                       quote_for_message(region->text));
  });
}

void check_rhythm(const YamlNode& job, Diagnostics& diagnostics) {
  const YamlNode* const every = scalar_member(job.find("checkpoint"), "every");
  if (every == nullptr) return;
  const auto rhythm = parse_every(every->text);
  if (!rhythm || rhythm->unit != CheckpointEvery::Unit::kTime) return;
  for (const std::string_view key : {"deadline", "lifetime"}) {
    const YamlNode* const value = scalar_member(&job, key);
    if (value == nullptr) continue;
    const auto limit = parse_span(value->text);
    if (!limit || rhythm->time < *limit) continue;
    diagnostics.add(every->position, "checkpoint.every", [&] {
      return fmt::format("a checkpoint every {} would never be made before the {} of {}",
                         format_duration(rhythm->time), key, format_duration(*limit));
    });
  }
}

void check_grace(const YamlNode& job, Diagnostics& diagnostics) {
  const YamlNode* const grace = scalar_member(&job, "grace");
  const YamlNode* const lifetime = scalar_member(&job, "lifetime");
  if (grace == nullptr || lifetime == nullptr) return;
  const auto time = parse_span(grace->text);
  const auto whole = parse_span(lifetime->text);
  if (!time || !whole || *time < *whole) return;
  diagnostics.add(grace->position, "grace", [&] {
    return fmt::format("a grace of {} is not shorter than the lifetime of {}",
                       format_duration(*time), format_duration(*whole));
  });
}

// A code that is not given has its default, which the other one may have been given.
void check_exit_codes(const YamlNode& job, Diagnostics& diagnostics) {
  const YamlNode* const codes = job.find("exit_codes");
  const YamlNode* const left = scalar_member(codes, "left");
  const YamlNode* const never = scalar_member(codes, "never");
  const auto code_of = [](const YamlNode* value, int if_absent) {
    return value == nullptr ? if_absent : parse_number<int>(value->text).value_or(0);
  };
  const int code = code_of(left, ExitCodes{}.left);
  if (code == 0 || code != code_of(never, ExitCodes{}.never)) return;
  const YamlNode* const where = never == nullptr ? left : never;
  diagnostics.add(where->position, never == nullptr ? "exit_codes.left" : "exit_codes.never", [&] {
    return fmt::format(
        "'exit_codes.left' and 'exit_codes.never' are both {}{}; one code cannot mean both", code,
        left == nullptr    ? ", which is the default of left"
        : never == nullptr ? ", which is the default of never"
                           : "");
  });
}

// A cache is put back as it was, whatever the checkpoint holds: both in one folder would let old
// files replace newer ones.
void check_cache(const YamlNode& job, Diagnostics& diagnostics) {
  const YamlNode* const dir = scalar_member(job.find("checkpoint"), "dir");
  const YamlNode* const cache = job.find("cache");
  if (dir == nullptr || cache == nullptr || dir->text == "auto") return;
  const auto checkpoints = canonical_checkpoint_dir(dir->text);
  if (!checkpoints) return;
  for (std::size_t i = 0; i < cache->items.size(); ++i) {
    const YamlNode& item = cache->items[i];
    if (item.kind != YamlNode::Kind::kScalar) continue;
    const auto folder = canonical_cache(item.text);
    if (!folder || *folder != *checkpoints) continue;
    diagnostics.add(item.position, fmt::format("cache[{}]", i), [&] {
      return fmt::format(
          "{} is the checkpoint folder, which travels by itself; take it out of 'cache'",
          quote_for_message(item.text));
    });
  }
}

}  // namespace

void find_conflicts(const YamlNode& job, Diagnostics& diagnostics) {
  if (const YamlNode* const places = job.find("places")) {
    for (std::size_t i = 0; i < places->items.size(); ++i) {
      check_zone(places->items[i], fmt::format("places[{}]", i), diagnostics);
    }
  }
  check_rhythm(job, diagnostics);
  check_grace(job, diagnostics);
  check_exit_codes(job, diagnostics);
  check_cache(job, diagnostics);
}

}  // namespace outlast::job
