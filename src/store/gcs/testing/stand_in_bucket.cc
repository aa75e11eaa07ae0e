#include "store/gcs/testing/stand_in_bucket.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "store/gcs/gcs_answers.h"

namespace outlast::store::gcs::testing {

std::string StandInObject::to_json() const {
  const std::string time = format_rfc3339(updated);
  Json json = {{"kind", "storage#object"},
               {"id", fmt::format("{}/{}/{}", bucket, name, generation)},
               {"name", name},
               {"bucket", bucket},
               {"generation", std::to_string(generation)},
               {"metageneration", "1"},
               {"contentType", content_type},
               {"storageClass", "STANDARD"},
               {"size", std::to_string(content->size())},
               {"md5Hash", md5},
               {"crc32c", crc32c},
               {"etag", base64_encode(as_bytes(std::to_string(generation)))},
               {"timeCreated", time},
               {"updated", time}};
  const auto metadata = parse_json(metadata_json);
  if (metadata) json["metadata"] = *metadata;
  return canonical_json(json);
}

const StandInObject* StandInBucket::find(const std::string& name) const {
  const auto found = objects_.find(name);
  return found == objects_.end() ? nullptr : &found->second;
}

bool StandInBucket::holds(const std::string& name, const StandInConditions& conditions) const {
  const StandInObject* const object = find(name);
  const std::uint64_t generation = object != nullptr ? object->generation : 0;
  const std::uint64_t metageneration = object != nullptr ? 1 : 0;
  return conditions.generation_is.value_or(generation) == generation &&
         conditions.metageneration_is.value_or(metageneration) == metageneration &&
         (!conditions.generation_is_not || *conditions.generation_is_not != generation) &&
         (!conditions.metageneration_is_not || *conditions.metageneration_is_not != metageneration);
}

const StandInObject& StandInBucket::insert(StandInObject object, WallTime now) {
  // Microseconds, as Google's are; but never twice the same, nor back with the clock.
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  last_generation_ =
      std::max(last_generation_ + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(micros, 1)));
  object.bucket = name_;
  object.generation = last_generation_;
  object.updated = now;
  object.crc32c = format_crc32c(outlast::crc32c(as_bytes(*object.content)));
  object.md5 = base64_encode(outlast::md5(as_bytes(*object.content)));
  const std::string name = object.name;
  return objects_.insert_or_assign(name, std::move(object)).first->second;
}

// A page token is the last name or prefix that was given, with a letter that tells which, in
// base64.
std::optional<StandInListing> StandInBucket::list(const StandInListing::Query& query) const {
  std::string last;
  bool last_is_prefix = false;
  if (!query.page_token.empty()) {
    const auto token = base64_decode(query.page_token);
    if (!token || token->size() < 2) return std::nullopt;
    last = as_text(*token).substr(1);
    last_is_prefix = as_text(*token).front() == 'p';
  }
  StandInListing page;
  auto at = objects_.lower_bound(std::max({query.prefix, query.start_offset, last}));
  for (; at != objects_.end() && at->first.starts_with(query.prefix); ++at) {
    const std::string& name = at->first;
    if (!query.end_offset.empty() && name >= query.end_offset) break;
    if (last_is_prefix ? name.starts_with(last) : name == last) continue;
    const std::size_t cut = query.delimiter.empty()
                                ? std::string::npos
                                : name.find(query.delimiter, query.prefix.size());
    const bool is_prefix = cut != std::string::npos;
    const std::string given = is_prefix ? name.substr(0, cut + query.delimiter.size()) : name;
    if (page.items.size() + page.prefixes.size() == query.page_max) {
      page.next_page_token = base64_encode(as_bytes((last_is_prefix ? "p" : "i") + last));
      break;
    }
    if (is_prefix) {
      page.prefixes.push_back(given);
    } else {
      page.items.push_back(at->second);
    }
    last = given;
    last_is_prefix = is_prefix;
  }
  return page;
}

}  // namespace outlast::store::gcs::testing
