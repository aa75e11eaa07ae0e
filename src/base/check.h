#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

// A broken invariant is a bug, not an error: it stops the program, with the values that show it, in
// every build. A crash costs one restore; going on might cost a checkpoint. Never used for what the
// outside world controls.
//
//   OUTLAST_CHECK(epoch >= last, "epoch {} after {}", epoch, last);

namespace outlast::detail {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

template <typename... Args>
[[noreturn]] void check_failed_with(const char* file, int line, const char* condition,
                                    fmt::format_string<Args...> text, Args&&... args) {
  check_failed(file, line, condition, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace outlast::detail

#define OUTLAST_CHECK(condition, ...)                                                    \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::outlast::detail::check_failed_with(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (false)

// For checks too costly for release builds, where they are compiled but never evaluated.
#ifdef NDEBUG
#define OUTLAST_DCHECK(condition, ...)                \
  do {                                                \
    if (false) OUTLAST_CHECK(condition, __VA_ARGS__); \
  } while (false)
#else
#define OUTLAST_DCHECK(condition, ...) OUTLAST_CHECK(condition, __VA_ARGS__)
#endif
