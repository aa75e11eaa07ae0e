#pragma once

#include "base/result.h"
#include "checkpoint/loaded_checkpoint.h"

namespace outlast::checkpoint {

// The same checkpoint with each region as a file, by its plain_path(), and with the folders that
// those need: for whoever wants plain files and nothing else. kAlreadyExists if a region has the
// name of a file, or of a folder that something else needs.
Result<LoadedCheckpoint> with_regions_as_files(LoadedCheckpoint checkpoint);

}  // namespace outlast::checkpoint
