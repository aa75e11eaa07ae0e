#include "agent/root_layout.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "job/log_entry.h"

namespace outlast::agent {

std::string attempt_folder(job::Epoch epoch) {
  return fmt::format("{}{:08}/", kAttemptsPrefix, epoch);
}

Result<job::Epoch> parse_attempt_folder(std::string_view folder) {
  if (folder.starts_with(kAttemptsPrefix) && folder.ends_with('/')) {
    std::string_view digits = folder.substr(kAttemptsPrefix.size());
    if (!digits.empty()) digits.remove_suffix(1);
    const auto epoch = parse_number<job::Epoch>(digits);
    // There is one folder for each attempt: what is spelled otherwise is something else.
    if (epoch && *epoch > 0 && attempt_folder(*epoch) == folder) return *epoch;
  }
  return Error(ErrorCode::kCorrupt,
               fmt::format("'{}' is not the folder of an attempt", folder.substr(0, 80)));
}

std::string attempt_key(job::Epoch epoch) {
  return attempt_folder(epoch) + "attempt.json";
}

std::string events_prefix(job::Epoch epoch) {
  return attempt_folder(epoch) + "events/";
}

std::string printed_prefix(job::Epoch epoch) {
  return attempt_folder(epoch) + "printed/";
}

std::string beat_key(std::string_view job) {
  return fmt::format("{}{}", kBeatsPrefix, job);
}

}  // namespace outlast::agent
