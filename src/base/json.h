#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

// nlohmann::json without its exceptions. Include <nlohmann/json.hpp> where values are built or
// taken apart; headers need json_fwd only, which this brings.
namespace outlast {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes_max = 16U << 20U;
  std::size_t depth_max = 64;
};

// Parses one whole document. kCorrupt, with the byte it went wrong at (counted from 1), if it is
// not JSON; kInvalidArgument if it is over the limits. Duplicate keys are kCorrupt: two readers
// could believe different ones.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// The canonical text: keys sorted, no white space, UTF-8, one text for each value. What is hashed,
// compared and stored. Bytes that are not UTF-8 become U+FFFD instead of failing.
std::string canonical_json(const Json& value);
// The same for people: indented by two.
std::string pretty_json(const Json& value);

// Members of an object, typed. kCorrupt if `object` is not an object, the key is missing, or the
// value has another type or does not fit; the sentence names the key.
Result<std::string> json_string(const Json& object, std::string_view key);
Result<std::int64_t> json_int(const Json& object, std::string_view key);
Result<std::uint64_t> json_uint(const Json& object, std::string_view key);
Result<double> json_number(const Json& object, std::string_view key);
Result<bool> json_bool(const Json& object, std::string_view key);

}  // namespace outlast
