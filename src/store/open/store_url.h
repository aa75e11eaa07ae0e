#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace outlast::store {

enum class StoreKind { kFolder, kS3, kGcs, kAzure };

// Where a store, or an object in one, is. A value.
struct StoreUrl {
  StoreKind kind = StoreKind::kFolder;
  std::string account = {};  // Azure
  std::string bucket = {};   // or container; empty for a folder
  // A folder's path; or what stands behind the bucket, without the first slash: a prefix or a key.
  std::string path = {};
};

// A plain path, file:///path, s3://bucket/path, gs://bucket/path or az://account/container/path.
// Percent signs mean themselves. kInvalidArgument, with what is wrong and what is right, for
// anything else; an empty text too.
Result<StoreUrl> parse_store_url(std::string_view text);

}  // namespace outlast::store
