#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace outlast::cloud {

// Everything but A–Z a–z 0–9 - . _ ~ as %XX, upper case. What signatures are computed over.
std::string percent_encode(std::string_view text);
// The same, but '/' is kept: a whole path.
std::string percent_encode_path(std::string_view path);
// kInvalidArgument if a % is not followed by two hex digits. '+' stays '+'.
Result<std::string> percent_decode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
// "a=1&b=x%2Fy", in the order given; "" for none.
std::string encode_query(const Query& query);

}  // namespace outlast::cloud
