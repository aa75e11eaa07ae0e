#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "sys/world.h"
#include "trainers/data/publish.h"

namespace outlast::trainers {

// Where a training keeps what it makes: a folder, or the same below the URL of an object store,
// with a copy on this machine to work in. Confined to its owner.
class JobFolder {
 public:
  // Makes the folder, if it is not there; what is below a URL is fetched, and replaces whatever
  // this machine had of it. `world` outlives it.
  static Result<JobFolder> open(const std::string& place, sys::World& world);

  // Of a file in it, on this machine.
  std::string path_of(std::string_view name) const;
  std::string metrics_path() const { return path_of("metrics.jsonl"); }
  std::string plot_path() const { return path_of("plot.svg"); }
  std::string model_path() const { return path_of("model.safetensors"); }
  // Where the SDK's files are when nobody else keeps snapshots.
  std::string checkpoints_path() const { return path_of("checkpoints"); }
  // For messages: where the user finds the file of this path.
  std::string shown(const std::string& path) const;

  // Replaces one of the folder's files, whole or not at all.
  Result<void> write(const std::string& path, std::string_view text);
  // Brings what has changed to where others see it: nothing to do for a folder.
  Result<void> publish();
  // The same, if the last time was seconds ago: cheap enough for every step.
  Result<void> publish_sometimes();

 private:
  JobFolder(sys::World& world, std::string place, std::string path);

  sys::World* world_;
  std::string place_;
  std::string path_;
  std::optional<Publisher> publisher_;
  MonoTime published_ = {};
};

}  // namespace outlast::trainers
