#include "sys/posix_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <source_location>
#include <string>
#include <system_error>

#include "base/error.h"

namespace outlast::sys {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kNoSpace;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EBUSY:
      return ErrorCode::kUnavailable;
    case EINVAL:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kFailed;
  }
}

}  // namespace

Error posix_error(int error_number, const std::string& doing, std::source_location where) {
  const ErrorCode code = code_of(error_number);
  const char* const advice = code == ErrorCode::kNoSpace ? "; make room there and try again" : "";
  return {code,
          fmt::format("{}: {}{}", doing, std::generic_category().message(error_number), advice),
          where};
}

}  // namespace outlast::sys
