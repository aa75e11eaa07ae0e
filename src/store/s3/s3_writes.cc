#include <fmt/core.h>

#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_connection.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_integrity.h"
#include "store/s3/s3_objects.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

using EtagForm = Learned::EtagForm;

// The version of what was just written. Some servers do not say it.
Result<std::string> version_written(Connection& connection, const std::string& key,
                                    const Answer& answer, const sys::CallContext& ctx) {
  const auto etag = sys::find_header(answer.http.headers, "ETag");
  if (etag) {
    Result<std::string> version = read_etag(*etag);
    if (version) return version;
    return version.error().while_doing(what(Operation::kPut, connection.url_of(key)));
  }
  const Result<ObjectInfo> object = head_object(connection, key, ctx);
  if (object) return object->version;
  return Error(
      ErrorCode::kUnknownOutcome,
      fmt::format("{}: it was written, but the server did not say its version, and then: {}",
                  what(Operation::kPut, connection.url_of(key)), object.error().to_string()));
}

// Whether a PUT lost its If-Match only because the server compares with our quotes: Ceph up to 16.
Result<bool> wants_bare_etag(Connection& connection, const std::string& key,
                             const WriteIf& condition, const sys::CallContext& ctx) {
  if (condition.kind != WriteIf::Kind::kVersion) return false;
  if (connection.learned().etag_form != EtagForm::kUntried) return false;
  const Result<ObjectInfo> object = head_object(connection, key, ctx);
  if (object) return object->version == condition.version;
  if (object.error().code() == ErrorCode::kNotFound) return false;
  return object.error();
}

}  // namespace

sys::HttpHeaders condition_headers(const WriteIf& condition, EtagForm form) {
  switch (condition.kind) {
    case WriteIf::Kind::kAlways:
      return {};
    case WriteIf::Kind::kAbsent:
      return {{"If-None-Match", "*"}};
    case WriteIf::Kind::kVersion:
      return {{"If-Match",
               form == EtagForm::kBare ? condition.version : "\"" + condition.version + "\""}};
  }
  return {};
}

bool lost_condition(const Answer& answer, const WriteIf& condition) {
  if (condition.kind == WriteIf::Kind::kAlways) return false;
  if (answer.http.status == 412) return true;
  return answer.http.status == 404 && answer.refusal.code == "NoSuchKey" &&
         condition.kind == WriteIf::Kind::kVersion;
}

Result<std::string> put_object(Connection& connection, const std::string& key, BytesView bytes,
                               const WriteIf& condition, const sys::CallContext& ctx) {
  const std::string url = connection.url_of(key);
  if (condition.kind == WriteIf::Kind::kVersion && !is_version(condition.version)) {
    return lost(Operation::kPut, url, condition);
  }
  Learned& learned = connection.learned();
  Learned::Checksums checksums = learned.checksums;
  EtagForm form = learned.etag_form;
  Seal sealed = seal(bytes, checksums, connection.safe_wire());
  // At most three times: as we know it, without a checksum, and with a bare ETag.
  for (;;) {
    Call call{.operation = Operation::kPut,
              .key = key,
              .headers = condition_headers(condition, form),
              .body = bytes,
              .payload_hash = sealed.payload_hash};
    call.headers.insert(call.headers.end(), sealed.headers.begin(), sealed.headers.end());
    OUTLAST_TRY_ASSIGN(const Answer answer, connection.call(call, ctx));
    if (answer.ok()) {
      learn_checksums(sealed, answer, learned);
      if (condition.kind == WriteIf::Kind::kVersion) {
        learned.etag_form = form == EtagForm::kBare ? EtagForm::kBare : EtagForm::kQuoted;
      }
      return version_written(connection, key, answer, ctx);
    }
    if (checksums == Learned::Checksums::kUntried && may_refuse_checksums(answer)) {
      checksums = Learned::Checksums::kRefused;
      sealed = seal(bytes, checksums, connection.safe_wire());
      continue;
    }
    if (!lost_condition(answer, condition)) return connection.error(call, answer);
    if (form == EtagForm::kUntried && answer.http.status == 412) {
      OUTLAST_TRY_ASSIGN(const bool bare, wants_bare_etag(connection, key, condition, ctx));
      if (bare) {
        form = EtagForm::kBare;
        continue;
      }
    }
    return lost(Operation::kPut, url, condition);
  }
}

Result<void> remove_object(Connection& connection, const std::string& key,
                           const sys::CallContext& ctx) {
  const Call call{.operation = Operation::kRemove, .key = key};
  OUTLAST_TRY_ASSIGN(const Answer answer, connection.call(call, ctx));
  const bool gone = answer.http.status == 404 && answer.refusal.code != "NoSuchBucket";
  if (answer.ok() || gone) return {};
  return connection.error(call, answer);
}

Result<void> look_first(Connection& connection, Operation operation, const std::string& key,
                        const WriteIf& condition, const sys::CallContext& ctx) {
  if (condition.kind == WriteIf::Kind::kAlways) return {};
  const Result<ObjectInfo> object = head_object(connection, key, ctx);
  if (!object && object.error().code() != ErrorCode::kNotFound) return object.error();
  const bool met = condition.kind == WriteIf::Kind::kAbsent
                       ? !object
                       : object && object->version == condition.version;
  if (met) return {};
  return lost(operation, connection.url_of(key), condition);
}

Result<void> remove_object_if(Connection& connection, const std::string& key,
                              const std::string& version, bool looks_first,
                              const sys::CallContext& ctx) {
  const WriteIf condition = WriteIf::version_is(version);
  const Call call{.operation = Operation::kRemove,
                  .key = key,
                  .headers = is_version(version)
                                 ? condition_headers(condition, connection.learned().etag_form)
                                 : sys::HttpHeaders()};
  // Also after a loss: that it is gone is success, and the answer does not tell the two apart.
  const auto look = [&]() -> Result<bool> {
    const Result<ObjectInfo> object = head_object(connection, key, ctx);
    if (!object && object.error().code() == ErrorCode::kNotFound) return false;
    if (!object) return object.error();
    if (object->version == version) return true;
    return lost(Operation::kRemove, connection.url_of(key), condition);
  };
  if (looks_first || !is_version(version)) {
    OUTLAST_TRY_ASSIGN(const bool there, look());
    if (!there) return {};
  }
  OUTLAST_TRY_ASSIGN(const Answer answer, connection.call(call, ctx));
  if (answer.ok()) return {};
  if (answer.http.status == 404 && answer.refusal.code != "NoSuchBucket") return {};
  if (answer.http.status != 412) return connection.error(call, answer);
  OUTLAST_TRY_ASSIGN(const bool there, look());
  if (!there) return {};
  return lost(Operation::kRemove, connection.url_of(key), condition);
}

}  // namespace outlast::store::s3
