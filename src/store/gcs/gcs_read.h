#pragma once

#include <string>

#include "base/result.h"
#include "store/gcs/gcs_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store::gcs {

// ObjectStore::get(): reads an object, or a part of it, in one request. A server that sends the
// whole object in spite of a range is cut to the range.
Result<ObjectInfo> read_gcs_object(GcsClient& client, const std::string& key,
                                   const GetOptions& options, const ByteSink& sink,
                                   const sys::CallContext& ctx);

}  // namespace outlast::store::gcs
