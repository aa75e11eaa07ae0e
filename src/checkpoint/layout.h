#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "job/log_entry.h"

// Where things lie in a job's folder of the root; docs/checkpoint_format.md is the law.
namespace outlast::checkpoint {

// "jobs/<job>/", after checking that the name is one: kInvalidArgument otherwise.
Result<std::string> job_folder(std::string_view job);

// "commits/999999999994-5.json": the first number falls as `seq` rises, so that a listing, which
// every store gives in the order of the names, begins with the newest entry.
std::string entry_key(job::Seq seq);
inline constexpr std::string_view kEntryPrefix = "commits/";
// kCorrupt if the key is not one that entry_key() makes.
Result<job::Seq> parse_entry_key(std::string_view key);

std::string manifest_key(const Sha256Digest& name);
inline constexpr std::string_view kManifestPrefix = "manifests/";
std::string pack_key(const Sha256Digest& name);
inline constexpr std::string_view kPackPrefix = "packs/";
// What a prune has condemned.
std::string condemned_key(const Sha256Digest& name);
inline constexpr std::string_view kCondemnedPrefix = "condemned/";

}  // namespace outlast::checkpoint
