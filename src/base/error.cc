#include "base/error.h"

#include <chrono>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace outlast {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kConditionFailed:
      return "condition failed";
    case ErrorCode::kPermissionDenied:
      return "permission denied";
    case ErrorCode::kNoSpace:
      return "no space";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kThrottled:
      return "throttled";
    case ErrorCode::kUnknownOutcome:
      return "unknown outcome";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kDeadlineExceeded:
      return "deadline exceeded";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kPreempted:
      return "preempted";
    case ErrorCode::kFailed:
      return "failed";
  }
  return "failed";
}

Error::Error(ErrorCode code, std::string sentence, std::source_location where)
    : code_(code), sentence_(std::move(sentence)), where_(where) {}

Error Error::while_doing(std::string doing, std::source_location where) const {
  Error outer(code_, std::move(doing), where);
  outer.cause_ = std::make_shared<const Error>(*this);
  outer.retry_after_ = retry_after_;
  return outer;
}

Error Error::with_retry_after(std::chrono::nanoseconds wait) && {
  retry_after_ = wait;
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text = sentence_;
  for (const Error* inner = cause(); inner != nullptr; inner = inner->cause()) {
    text += ": ";
    text += inner->sentence_;
  }
  return text;
}

}  // namespace outlast
