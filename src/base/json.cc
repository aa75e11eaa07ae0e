#include "base/json.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast {
namespace {

// What nlohmann's parser lets through and we do not: depth (its dump() is recursive) and duplicate
// keys (it keeps the last). Called at every event of a parse; throws Refused, caught in
// parse_json().
struct Refused {
  Error why;
};

class StrictFilter {
 public:
  explicit StrictFilter(std::size_t depth_max) : depth_max_(depth_max) {}

  void operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (static_cast<std::size_t>(depth) >= depth_max_ &&
        (event == Event::object_start || event == Event::array_start)) {
      throw Refused{{ErrorCode::kInvalidArgument,
                     fmt::format("JSON is nested more than {} deep", depth_max_)}};
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw Refused{{ErrorCode::kCorrupt, fmt::format("JSON key '{}' appears twice",
                                                      parsed.get<std::string>().substr(0, 80))}};
    }
  }

 private:
  std::size_t depth_max_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

Error bad_member(std::string_view key, std::string_view expected) {
  return {ErrorCode::kCorrupt, fmt::format("'{}' must be {}", key, expected)};
}

// The member, or nullptr.
const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("JSON of {} bytes is over the limit of {}", text.size(), limits.bytes_max));
  }
  StrictFilter filter(limits.depth_max);
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      filter(depth, event, parsed);
      return true;
    });
  } catch (const Json::parse_error& error) {
    return Error(ErrorCode::kCorrupt, fmt::format("not JSON at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    return Error(ErrorCode::kCorrupt, "JSON has a number that is too large");
  } catch (const Refused& refused) {
    return refused.why;
  }
}

std::string canonical_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string pretty_json(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> json_string(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_string()) return bad_member(key, "a string");
  return value->get<std::string>();
}

Result<std::int64_t> json_int(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number_integer()) return bad_member(key, "a whole number");
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return bad_member(key, "a whole number below 2^63");
  }
  return value->get<std::int64_t>();
}

Result<std::uint64_t> json_uint(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  // Parsed numbers are unsigned when they can be; those put in by code are of the type they had
  // there.
  if (value == nullptr || !value->is_number_integer() ||
      (!value->is_number_unsigned() && value->get<std::int64_t>() < 0)) {
    return bad_member(key, "a whole number, not negative");
  }
  return value->get<std::uint64_t>();
}

Result<double> json_number(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number()) return bad_member(key, "a number");
  return value->get<double>();
}

Result<bool> json_bool(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_boolean()) return bad_member(key, "true or false");
  return value->get<bool>();
}

}  // namespace outlast
