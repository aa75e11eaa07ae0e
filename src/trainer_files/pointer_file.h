#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace outlast::trainer_files {

// What a small text file names as the newest checkpoint: the last names of the paths in it, without
// folders, the newest first. Reads what TensorFlow writes (model_checkpoint_path: "out/ckpt-3"),
// and files with just a name, a path or a number in them. Empty for anything else.
std::vector<std::string> names_in_pointer(std::string_view text);

}  // namespace outlast::trainer_files
