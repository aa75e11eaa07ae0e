#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

// Paths that must mean the same on every machine a job runs on. All of these give the shortest form
// ("./a//b/../c/" is "a/c"); what fails is kInvalidArgument, and the sentence is what is wrong,
// without the path itself.
namespace outlast::job {

// Something that travels from the job's folder: relative, and inside that folder.
Result<std::string> canonical_file(std::string_view text);
// A folder that is carried to the next machine: relative, or below the home folder ("~/.cache/x").
Result<std::string> canonical_cache(std::string_view text);
// The folder the trainer writes checkpoints to: relative and inside the work folder, or absolute.
Result<std::string> canonical_checkpoint_dir(std::string_view text);

}  // namespace outlast::job
