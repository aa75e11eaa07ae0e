#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/metadata_service.h"

// What EC2's metadata service says, read. Pure. kFailed if it is nothing that the service could
// have said; the text is not quoted.
namespace outlast::notice {

// The answer to a look at one key.
struct Ec2Answer {
  std::string_view body = {};
  ServiceTime now = {};
  Duration grace = {};  // where it leaves the time open
};

// spot/instance-action. Without a usable time it is a notice all the same.
Result<News> read_instance_action(const Ec2Answer& answer);
// spot/termination-time: what is no time, or past, is no notice. It then holds what is left of a
// termination that failed.
Result<News> read_termination_time(const Ec2Answer& answer);
// events/recommendations/rebalance: a hint.
Result<News> read_rebalance(const Ec2Answer& answer);
// events/maintenance/scheduled: what stops or reboots the machine is certain, the rest a hint.
Result<News> read_maintenance(const Ec2Answer& answer);

// "21 Jan 2019 09:00:43 GMT", or RFC 3339; nullopt if it is neither.
std::optional<WallTime> parse_ec2_time(std::string_view text);

}  // namespace outlast::notice
