#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/directory_files.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// Large objects in a DirectoryStore: a draft that parts are written into where they belong, and
// beside it "<draft>.parts", which says whose draft it is and which parts are durably in it.
namespace outlast::store {

// `files` must outlive the upload. The plan has been checked.
Result<std::unique_ptr<Upload>> start_directory_upload(DirectoryFiles& files,
                                                       const std::string& key,
                                                       const UploadPlan& plan,
                                                       const sys::CallContext& ctx);
// kNotFound if it is over; kInvalidArgument if it was begun for something else.
Result<std::unique_ptr<Upload>> resume_directory_upload(DirectoryFiles& files,
                                                        const std::string& key,
                                                        const UploadPlan& plan,
                                                        const std::string& token);

}  // namespace outlast::store
