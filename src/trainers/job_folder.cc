#include "trainers/job_folder.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/world.h"
#include "trainers/data/fetch.h"
#include "trainers/data/publish.h"
#include "trainers/data_place.h"

namespace outlast::trainers {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(2);

}  // namespace

JobFolder::JobFolder(sys::World& world, std::string place, std::string path)
    : world_(&world),
      place_(std::move(place)),
      path_(std::move(path)),
      published_(world.clock.mono_now()) {}

Result<JobFolder> JobFolder::open(const std::string& place, sys::World& world) {
  if (place.find("://") == std::string::npos) {
    OUTLAST_TRY(sys::make_dirs(world.files, place).while_doing("make the folder of --job-dir"));
    return JobFolder(world, place, place);
  }
  const DataPlace copied = {
      .from = place, .cache_folder = sys::join_path(cache_folder(world.environment), "jobs")};
  JobFolder folder(world, place, copy_of(copied));
  // The store is the truth: what this machine has beside it may be of a training that was given up.
  OUTLAST_TRY(sys::remove_tree(world.files, folder.path_));
  OUTLAST_TRY(sys::make_dirs(world.files, folder.path_));
  const Result<std::string> fetched = local_data(copied, world, {}, {});
  if (!fetched && fetched.error().code() != ErrorCode::kNotFound) {
    return fetched.error().while_doing("fetch the job folder of --job-dir");
  }
  OUTLAST_TRY_ASSIGN(folder.publisher_, Publisher::open(place, world));
  return folder;
}

std::string JobFolder::path_of(std::string_view name) const {
  return sys::join_path(path_, name);
}

std::string JobFolder::shown(const std::string& path) const {
  return path.starts_with(path_) ? place_ + path.substr(path_.size()) : path;
}

Result<void> JobFolder::write(const std::string& path, std::string_view text) {
  return sys::write_file_atomically(world_->files, path, as_bytes(text));
}

Result<void> JobFolder::publish() {
  if (!publisher_) return {};
  published_ = world_->clock.mono_now();
  return publisher_->publish(path_, {}).while_doing("upload to " + place_);
}

Result<void> JobFolder::publish_sometimes() {
  if (!publisher_ || world_->clock.mono_now() - published_ < kBetweenLooks) return {};
  return publish();
}

}  // namespace outlast::trainers
