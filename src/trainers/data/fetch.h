#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "store/transfer/copier.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::trainers {

struct DataPlace {
  std::string from = {};          // a path, or s3://, gs://, az:// or file:// and so on
  std::string cache_folder = {};  // where copies are kept; made when it is needed
};

// Where what a URL names is copied to.
std::string copy_of(const DataPlace& place);

// Called about ten times a second while something is copied.
using FetchProgress = std::function<void(const store::CopyProgress&)>;

// The data as a folder, or a file, of this machine. A plain path is returned as it is, unseen.
// Everything below a URL, or the one object that it names, is copied to a folder of its own below
// the cache folder, whose path is returned. Files that are there already with the right size are
// left alone: data sets do not change, and one that did must get another URL. An interrupted copy
// goes on where it stopped. Files that the store no longer has stay.
//
// Errors: kNotFound if nothing is below the URL; kInvalidArgument for a malformed one; and what the
// store says.
Result<std::string> local_data(const DataPlace& place, sys::World& world,
                               const FetchProgress& progress, const sys::CallContext& ctx);

}  // namespace outlast::trainers
