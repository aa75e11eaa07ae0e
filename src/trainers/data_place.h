#pragma once

#include <string>

#include "base/result.h"
#include "cli/program/command_spec.h"
#include "sys/environment.h"

namespace outlast::trainers {

struct WantedData {
  std::string place = {};    // what --data says: a path, or an object-store URL
  std::string dataset = {};  // its name in data/download.h, if it is one of those; else empty
  bool may_download = false;
};

// Where copies of what URLs name are kept: $XDG_CACHE_HOME/outlast or ~/.cache/outlast.
std::string cache_folder(sys::Environment& environment);

// The data as a path on this machine. What a URL names is copied to the folder "data" of the
// cache folder first; with may_download, and if the
// place is a path, what is not there is fetched from where it is published. Shows progress.
Result<std::string> find_data(const WantedData& wanted, cli::Context& context);

}  // namespace outlast::trainers
