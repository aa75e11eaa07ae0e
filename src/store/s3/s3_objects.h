#pragma once

#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/s3/s3_connection.h"
#include "sys/call_context.h"
#include "sys/http.h"

// What S3Store does with single objects. Keys have been checked. See ObjectStore for what each
// promises.
namespace outlast::store::s3 {

Result<std::string> put_object(Connection& connection, const std::string& key, BytesView bytes,
                               const WriteIf& condition, const sys::CallContext& ctx);
Result<ObjectInfo> get_object(Connection& connection, const std::string& key,
                              const GetOptions& options, const ByteSink& sink,
                              const sys::CallContext& ctx);
Result<ObjectInfo> head_object(Connection& connection, const std::string& key,
                               const sys::CallContext& ctx);
Result<void> remove_object(Connection& connection, const std::string& key,
                           const sys::CallContext& ctx);
// `looks_first`: the server may ignore the condition, so that it is also judged by us.
Result<void> remove_object_if(Connection& connection, const std::string& key,
                              const std::string& version, bool looks_first,
                              const sys::CallContext& ctx);

// The headers that ask for the condition. `version` must be one that an answer can have given.
sys::HttpHeaders condition_headers(const WriteIf& condition, Learned::EtagForm form);
// Whether a refused write lost its condition.
bool lost_condition(const Answer& answer, const WriteIf& condition);
// Judges the condition ourselves, for servers that do not: its loss is the error.
Result<void> look_first(Connection& connection, Operation operation, const std::string& key,
                        const WriteIf& condition, const sys::CallContext& ctx);

}  // namespace outlast::store::s3
