#include "checkpoint/layout.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/numbers.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "job/scalars.h"

namespace outlast::checkpoint {
namespace {

constexpr std::string_view kEntrySuffix = ".json";
constexpr std::size_t kFallingDigits = 12;  // as many as kSeqMax has

std::string under(std::string_view prefix, const Sha256Digest& name) {
  return std::string(prefix) + name.hex();
}

}  // namespace

Result<std::string> job_folder(std::string_view job) {
  const auto name = job::read_name(job);
  if (name) return fmt::format("jobs/{}/", *name);
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("'{}' cannot be the name of a job{}{}", job.substr(0, 80),
                           name.error().empty() ? "" : ": ", name.error()));
}

std::string entry_key(job::Seq seq) {
  return fmt::format("{}{:012}-{}{}", kEntryPrefix, job::kSeqMax - seq, seq, kEntrySuffix);
}

Result<job::Seq> parse_entry_key(std::string_view key) {
  const std::size_t number_at = kEntryPrefix.size() + kFallingDigits + 1;
  if (key.size() > number_at + kEntrySuffix.size()) {
    const auto seq =
        parse_number<job::Seq>(key.substr(number_at, key.size() - number_at - kEntrySuffix.size()));
    // There is one key for each place: what is spelled otherwise is something else.
    if (seq && *seq > 0 && *seq <= job::kSeqMax && entry_key(*seq) == key) return *seq;
  }
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not the name of an entry", key));
}

std::string manifest_key(const Sha256Digest& name) {
  return under(kManifestPrefix, name);
}

std::string pack_key(const Sha256Digest& name) {
  return under(kPackPrefix, name);
}

std::string condemned_key(const Sha256Digest& name) {
  return under(kCondemnedPrefix, name);
}

}  // namespace outlast::checkpoint
