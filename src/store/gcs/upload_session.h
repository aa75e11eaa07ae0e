#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "store/gcs/gcs_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store::gcs {

// One resumable upload, as the server sees it: a growing row of bytes that becomes an object.
// Confined to its owner.
class UploadSession {
 public:
  struct Target {
    std::string what = {};  // "upload gs://bucket/key": begins every sentence
    std::uint64_t size = 0;
    WriteIf::Kind condition = WriteIf::Kind::kAlways;
  };

  UploadSession(GcsClient& client, Target target, Secret<std::string> uri);

  // How many bytes it held when it last said so.
  std::uint64_t stored() const { return stored_; }
  // Once it has become an object.
  const std::optional<ObjectInfo>& object() const { return object_; }
  const Secret<std::string>& uri() const { return uri_; }

  // Makes sure that stored() and object() are true, which they are not after an answer was lost.
  // kNotFound if the session is gone.
  Result<void> be_certain(const sys::CallContext& ctx);
  // Asks how much is stored.
  Result<void> ask(const sys::CallContext& ctx);
  // Sends bytes that begin at stored() and do not end the object, until all are stored.
  Result<void> append(BytesView bytes, const sys::CallContext& ctx);
  // Sends the bytes from stored() to the end of the object, which is then published. `crc32c` of
  // the whole object, if it is known, is checked by the server. When the answer is lost, it is
  // asked for once; kUnknownOutcome if that does not tell either.
  Result<void> finish(BytesView bytes, std::optional<std::uint32_t> crc32c,
                      const sys::CallContext& ctx);
  // Ok if it is gone already.
  Result<void> cancel(const sys::CallContext& ctx);

 private:
  enum class Sending { kMiddle, kEnd, kQuestion };
  struct Chunk {
    Sending sending = Sending::kMiddle;
    BytesView bytes = {};
    std::optional<std::uint32_t> crc32c = {};
  };
  Result<void> exchange(const Chunk& chunk, const sys::CallContext& ctx);
  Result<void> understand(const Chunk& chunk, const sys::HttpResponse& answer);
  Result<void> note_stored(const Chunk& chunk, const sys::HttpResponse& answer);
  Result<void> note_object(const Chunk& chunk, const sys::HttpResponse& answer);
  Error gone(int status) const;

  GcsClient& client_;
  const Target target_;
  const Secret<std::string> uri_;
  std::uint64_t stored_ = 0;
  std::optional<ObjectInfo> object_;
  bool uncertain_ = false;     // an answer was lost: stored_ may be too small
  bool end_was_sent_ = false;  // the object may exist although no answer said so
};

}  // namespace outlast::store::gcs
