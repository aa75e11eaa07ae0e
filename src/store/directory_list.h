#pragma once

#include <string>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/file_system.h"

namespace outlast::store {

// One page of the objects in a folder, as ObjectStore::list() gives it. Holds the names of one
// folder at each level in memory, not the whole tree; files that come or go meanwhile may or may
// not be in it. kNotFound if there is no folder `root`. page_max > 0.
Result<ListPage> list_directory(sys::FileSystem& fs, const std::string& root,
                                const ListOptions& options);

}  // namespace outlast::store
