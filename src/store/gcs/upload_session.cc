#include "store/gcs/upload_session.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/gcs_client.h"
#include "store/gcs/gcs_errors.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

// 499 is what Google says of a session that was cancelled.
bool means_gone(int status) {
  return status == 404 || status == 410 || status == 499;
}

// Whether the last request may have been acted on although it failed.
bool leaves_doubt(ErrorCode code) {
  return code == ErrorCode::kUnknownOutcome || code == ErrorCode::kDeadlineExceeded ||
         code == ErrorCode::kCancelled;
}

}  // namespace

UploadSession::UploadSession(GcsClient& client, Target target, Secret<std::string> uri)
    : client_(client), target_(std::move(target)), uri_(std::move(uri)) {}

Result<void> UploadSession::be_certain(const sys::CallContext& ctx) {
  return uncertain_ && !object_ ? ask(ctx) : Result<void>();
}

Result<void> UploadSession::ask(const sys::CallContext& ctx) {
  return exchange({.sending = Sending::kQuestion}, ctx);
}

Result<void> UploadSession::append(BytesView bytes, const sys::CallContext& ctx) {
  while (!bytes.empty()) {
    const std::uint64_t before = stored_;
    OUTLAST_TRY(exchange({.sending = Sending::kMiddle, .bytes = bytes}, ctx));
    bytes = bytes.subspan(stored_ - before);
  }
  return {};
}

Result<void> UploadSession::finish(BytesView bytes, std::optional<std::uint32_t> crc32c,
                                   const sys::CallContext& ctx) {
  while (!object_) {
    const std::uint64_t before = stored_;
    const Result<void> sent =
        exchange({.sending = Sending::kEnd, .bytes = bytes, .crc32c = crc32c}, ctx);
    if (!sent && sent.error().code() == ErrorCode::kUnknownOutcome) {
      // The session knows what became of it. Its own answer may be lost as well; then the first
      // error stands.
      if (ask(ctx) && object_) return {};
      return sent.error();
    }
    OUTLAST_TRY(sent);
    bytes = bytes.subspan(stored_ - before);
  }
  return {};
}

Result<void> UploadSession::cancel(const sys::CallContext& ctx) {
  if (object_) return {};
  OUTLAST_TRY_ASSIGN(
      const sys::HttpResponse answer,
      client_.send_to_session({.method = "DELETE", .url = uri_.reveal()}, target_.what, ctx));
  if ((answer.status >= 200 && answer.status < 300) || means_gone(answer.status)) return {};
  return refused({.what = target_.what,
                  .kind = Attempt::Kind::kSession,
                  .credentials = client_.credentials_origin()},
                 answer);
}

Result<void> UploadSession::exchange(const Chunk& chunk, const sys::CallContext& ctx) {
  sys::HttpRequest request{.method = "PUT", .url = uri_.reveal(), .body = chunk.bytes};
  request.headers.emplace_back(
      "Content-Range",
      chunk.bytes.empty()
          ? fmt::format("bytes */{}", target_.size)
          : fmt::format("bytes {}-{}/{}", stored_, stored_ + chunk.bytes.size() - 1, target_.size));
  if (chunk.crc32c) {
    request.headers.emplace_back("x-goog-hash", "crc32c=" + format_crc32c(*chunk.crc32c));
  }
  if (chunk.sending == Sending::kEnd) end_was_sent_ = true;
  const auto answer = client_.send_to_session(request, target_.what, ctx);
  if (!answer) {
    if (leaves_doubt(answer.error().code())) uncertain_ = true;
    return answer.error();
  }
  return understand(chunk, *answer);
}

Result<void> UploadSession::understand(const Chunk& chunk, const sys::HttpResponse& answer) {
  if (answer.status == 308) return note_stored(chunk, answer);
  if (answer.status == 200 || answer.status == 201) return note_object(chunk, answer);
  if (means_gone(answer.status)) return gone(answer.status);
  uncertain_ = true;
  const Refusal refusal = read_refusal(answer.body);
  if (chunk.crc32c && answer.status == 400 && blames_checksum(refusal)) {
    // It is the checksum of the whole: to send the last bytes again would not help.
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: bytes were damaged on their way, and nothing was published "
                             "('{}'); start the upload again from the beginning",
                             target_.what, refusal.message));
  }
  return refused(
      {.what = target_.what,
       .kind = chunk.sending == Sending::kEnd ? Attempt::Kind::kWrite : Attempt::Kind::kSession,
       .condition = target_.condition,
       .credentials = client_.credentials_origin()},
      answer);
}

Result<void> UploadSession::note_stored(const Chunk& chunk, const sys::HttpResponse& answer) {
  OUTLAST_TRY_ASSIGN(const std::uint64_t now_stored,
                     read_stored_bytes(answer).while_doing(target_.what));
  const bool is_question = chunk.sending == Sending::kQuestion;
  const std::uint64_t most = is_question ? target_.size : stored_ + chunk.bytes.size();
  if (now_stored > most) {
    return Error(ErrorCode::kFailed,
                 fmt::format("{}: the server says that it holds {} bytes of {} that were sent; "
                             "abort the upload and start again",
                             target_.what, now_stored, most));
  }
  uncertain_ = false;
  if (!is_question && now_stored <= stored_) {
    stored_ = now_stored;
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("{}: the server kept nothing of what was sent; try again", target_.what));
  }
  stored_ = now_stored;
  return {};
}

Result<void> UploadSession::note_object(const Chunk& chunk, const sys::HttpResponse& answer) {
  auto object = read_object(answer.body);
  if (!object) {
    uncertain_ = true;
    return Error(ErrorCode::kUnknownOutcome,
                 fmt::format("{}: the server took the object, but its answer makes no sense ({}); "
                             "look before repeating",
                             target_.what, object.error().to_string()));
  }
  if (object->size != target_.size) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: the server made an object of {} bytes out of {}; remove it",
                             target_.what, object->size, target_.size));
  }
  if (chunk.sending == Sending::kMiddle) {
    return Error(
        ErrorCode::kFailed,
        fmt::format("{}: the server ended the upload before its last bytes", target_.what));
  }
  object_ = std::move(*object);
  stored_ = target_.size;
  uncertain_ = false;
  return {};
}

Error UploadSession::gone(int status) const {
  if (end_was_sent_) {
    return {ErrorCode::kUnknownOutcome,
            fmt::format("{}: the server no longer knows the upload ({}), and its last bytes were "
                        "sent before: it may be complete; look before repeating",
                        target_.what, status)};
  }
  return {ErrorCode::kNotFound,
          fmt::format("{}: the server no longer has the upload ({}); start it again", target_.what,
                      status)};
}

}  // namespace outlast::store::gcs
