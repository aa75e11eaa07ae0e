#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "store/gcs/gcs_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// Large objects: Google's resumable uploads. A session takes bytes strictly one after the other and
// publishes the object with the last of them, so the last few (at most a granule) are kept back
// until complete(). Whatever becomes of a request, the session says how much it holds: after a lost
// answer the next call asks it first, and goes on from there. So put_part() may be called again
// with the same bytes after any error, and complete() too: it finds the object if the last try
// published it. Bytes that are stored cannot be replaced: other bytes for such a part are
// kInvalidArgument. If some were damaged on their way, complete() is kCorrupt, and all that is left
// is to abort.
//
// An Upload of this kind is confined to its owner; it borrows the client.
namespace outlast::store::gcs {

// All parts but the last end at a multiple of this.
inline constexpr std::uint64_t kUploadGranule = 256U << 10U;

Result<std::unique_ptr<Upload>> start_gcs_upload(GcsClient& client, const std::string& key,
                                                 const UploadPlan& plan,
                                                 const sys::CallContext& ctx);
Result<std::unique_ptr<Upload>> resume_gcs_upload(GcsClient& client, const std::string& key,
                                                  const UploadPlan& plan,
                                                  const Secret<std::string>& token,
                                                  const sys::CallContext& ctx);

}  // namespace outlast::store::gcs
