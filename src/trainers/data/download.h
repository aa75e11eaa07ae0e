#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::trainers {

enum class Packing { kPlain, kGzip, kTarGzip };

struct DownloadFile {
  std::string url = {};
  std::uint64_t size = 0;
  std::string md5 = {};  // lower-case hex
  Packing packing = Packing::kPlain;
  std::string makes = {};  // what it becomes in the folder: a file, or the folder in the archive
};

// A data set that its authors, or those who keep it for them, publish.
struct Dataset {
  std::string name = {};     // as it is asked for
  std::string belongs = {};  // what has to lie in the folder, in words
  std::vector<DownloadFile> files = {};
};

// cifar10, cifar100, mnist and adult, from where they are published.
const std::vector<Dataset>& known_datasets();
// kInvalidArgument with all names if there is none of this name.
Result<const Dataset*> find_dataset(std::string_view name);

struct DownloadProgress {
  std::string_view file = {};  // its address
  std::uint64_t bytes = 0;
  std::uint64_t size = 0;
};

// Brings the data set to `folder`, which is made. What is there already is left alone, whatever is
// in it. Each file is downloaded to ".downloading" in the folder, compared with its size and MD5,
// unpacked there (by tar or gzip, which must be installed), written to the disk, and renamed: it
// appears whole or not at all. One download into a folder at a time.
//
// Any failure is one sentence that also says what to put where by hand: kUnavailable without a
// network, kCorrupt if the bytes are others than published, kFailed if it could not be unpacked.
Result<void> download(const Dataset& dataset, const std::string& folder, sys::World& world,
                      const std::function<void(const DownloadProgress&)>& progress,
                      const sys::CallContext& ctx);

}  // namespace outlast::trainers
