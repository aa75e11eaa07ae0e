#include "base/json.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
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
// keys (it keeps the last). Looks at the text before it is parsed: a callback of the parse itself
// makes it look at a whole array again after each object in it.
class StrictLook : public nlohmann::json_sax<Json> {
 public:
  explicit StrictLook(std::size_t depth_max) : depth_max_(depth_max) {}

  // Why the text is refused; none if it is fine, or no JSON at all.
  const std::optional<Error>& refused() const { return refused_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return open(); }
  bool start_array(std::size_t /*size*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    refused_ =
        Error(ErrorCode::kCorrupt, fmt::format("JSON key '{}' appears twice", name.substr(0, 80)));
    return false;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    return false;
  }

 private:
  bool open() {
    if (keys_.size() >= depth_max_) {
      refused_ = Error(ErrorCode::kInvalidArgument,
                       fmt::format("JSON is nested more than {} deep", depth_max_));
      return false;
    }
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::size_t depth_max_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open; arrays have none
  std::optional<Error> refused_;
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
  StrictLook look(limits.depth_max);
  try {
    (void)Json::sax_parse(text, &look);
    if (const std::optional<Error>& refused = look.refused()) return *refused;
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Error(ErrorCode::kCorrupt, fmt::format("not JSON at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    return Error(ErrorCode::kCorrupt, "JSON has a number that is too large");
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
