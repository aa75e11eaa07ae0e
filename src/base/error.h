#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

namespace outlast {

// What a caller may do about a failure. A code is added only when some caller branches on it;
// otherwise the sentence gets better.
enum class ErrorCode {
  kInvalidArgument,   // the request itself is wrong; repeating it cannot help
  kNotFound,          // what was named is not there
  kAlreadyExists,     // it is there, and must not have been
  kConditionFailed,   // it is no longer what the caller knew: look again, then decide
  kPermissionDenied,  // we may not
  kNoSpace,           // a disk or a quota is full
  kUnavailable,       // may work later: retry
  kThrottled,         // may work later: retry, slower
  kUnknownOutcome,    // it may have happened: look before repeating
  kCorrupt,           // stored bytes are not what was stored: never retried, always reported
  kDeadlineExceeded,  // the caller's deadline passed first
  kCancelled,         // the caller asked us to stop
  kPreempted,         // this machine is going away
  kFailed,            // anything else; the sentence says what
};

// "not found", "unknown outcome", …: for logs and JSON. Never parsed by us.
std::string_view to_string(ErrorCode code);

// Why something did not work: a code for the program, a sentence for the person, and the errors
// underneath. Each layer adds what it was trying to do, so that the whole reads
// "restore job j-42: read manifest: GET …: 503". Immutable; copies share the causes.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string sentence,
        std::source_location where = std::source_location::current());

  ErrorCode code() const { return code_; }
  // This layer's words only.
  const std::string& sentence() const { return sentence_; }
  // The error underneath, or nullptr.
  const Error* cause() const { return cause_.get(); }
  // Where this layer was created: for logs at debug level, never for users.
  const std::source_location& where() const { return where_; }

  // This error as the cause of a new one with the same code: `doing` says what was being tried.
  Error while_doing(std::string doing,
                    std::source_location where = std::source_location::current()) const;

  // For kUnavailable and kThrottled: how long the other side asked us to stay away (Retry-After).
  // Kept by while_doing().
  std::optional<std::chrono::nanoseconds> retry_after() const { return retry_after_; }
  Error with_retry_after(std::chrono::nanoseconds wait) &&;

  // All sentences, outermost first, joined with ": ".
  std::string to_string() const;

 private:
  ErrorCode code_;
  std::string sentence_;
  std::shared_ptr<const Error> cause_;  // shared between copies of this error; immutable
  std::source_location where_;
  std::optional<std::chrono::nanoseconds> retry_after_;
};

}  // namespace outlast
