#include "sys/local_socket.h"

#include <fmt/core.h>

#include <string>

#include "base/error.h"
#include "base/result.h"

namespace outlast::sys {

Result<void> check_local_message(const LocalMessage& message) {
  if (!message.text.empty() && message.text.size() <= kLocalMessageMax) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("a message of {} bytes cannot be sent: it has 1 to {}",
                           message.text.size(), kLocalMessageMax));
}

Result<void> check_local_path(const std::string& path) {
  if (!path.empty() && path.size() <= kLocalPathMax && path.find('\0') == std::string::npos) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("'{}' cannot be the path of a socket: it has {} bytes, and 1 to {} are "
                           "possible; choose a folder with a shorter name",
                           path, path.size(), kLocalPathMax));
}

}  // namespace outlast::sys
