#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "store/object_store.h"
#include "store/s3/s3_connection.h"
#include "sys/call_context.h"

// Large objects in parts. Key and plan have been checked; the Upload borrows the connection.
namespace outlast::store::s3 {

struct UploadTarget {
  std::string key = {};
  UploadPlan plan = {};
  // The server may ignore the condition, so that it is also judged by us before completion.
  bool looks_first = false;
};

Result<std::unique_ptr<Upload>> start_upload(Connection& connection, const UploadTarget& target,
                                             const sys::CallContext& ctx);
Result<std::unique_ptr<Upload>> resume_upload(Connection& connection, const UploadTarget& target,
                                              const Secret<std::string>& token,
                                              const sys::CallContext& ctx);

}  // namespace outlast::store::s3
