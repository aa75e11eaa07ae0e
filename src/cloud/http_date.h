#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "sys/http.h"

namespace outlast::cloud {

// "Sun, 06 Nov 1994 08:49:37 GMT": what Date, Last-Modified and x-ms-date hold. Seconds.
std::string format_http_date(WallTime time);
// That form only; the two obsolete ones are kInvalidArgument, like everything else.
Result<WallTime> parse_http_date(std::string_view text);

// "20130524T000000Z": what AWS signs, and "20130524", its day.
std::string format_compact_time(WallTime time);
std::string format_compact_day(WallTime time);

// How long an answer's Retry-After asks us to stay away: seconds, or a moment, which is compared
// with the server's own Date. At most an hour; nullopt if it does not say, or not so that it is
// understood.
std::optional<Duration> retry_after(const sys::HttpHeaders& headers);

}  // namespace outlast::cloud
