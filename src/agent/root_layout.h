#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "job/log_entry.h"

// Where an attempt's papers lie. All but the beat are keys in the job's folder of the root
// (checkpoint::job_folder()); docs/root_format.md tells the same to strangers.
namespace outlast::agent {

// The job as it was submitted; made once.
inline constexpr std::string_view kSpecKey = "spec.json";
inline constexpr std::string_view kAttemptsPrefix = "attempts/";
// What the trainer saved for people when the job was done.
inline constexpr std::string_view kOutputPrefix = "output/";

// "attempts/00000012/": the order of the names is that of the attempts.
std::string attempt_folder(job::Epoch epoch);
// kCorrupt if it is not one that attempt_folder() makes.
Result<job::Epoch> parse_attempt_folder(std::string_view folder);

std::string attempt_key(job::Epoch epoch);     // the AttemptRecord
std::string events_prefix(job::Epoch epoch);   // of a stream: one Event a line
std::string printed_prefix(job::Epoch epoch);  // of a stream: what the trainer printed

// In the root itself, so that one listing shows which of all jobs are alive: "beats/<job>".
std::string beat_key(std::string_view job);
inline constexpr std::string_view kBeatsPrefix = "beats/";

}  // namespace outlast::agent
