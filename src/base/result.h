#pragma once

#include <source_location>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace outlast {

// A value, or the Error that kept us from it. Every fallible function returns one, and nobody may
// drop it. Inherits the whole of tl::expected: has_value(), operator*, value_or(), and_then(), …
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error)
      : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: implicit

  // The same outcome; a failure also says what was being tried.
  Result while_doing(const std::string& doing,
                     std::source_location where = std::source_location::current()) && {
    if (this->has_value()) return std::move(*this);
    return this->error().while_doing(doing, where);
  }
};

template <>
class [[nodiscard]] Result<void> : public tl::expected<void, Error> {
 public:
  using tl::expected<void, Error>::expected;
  Result(Error error)
      : tl::expected<void, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: implicit

  Result while_doing(const std::string& doing,
                     std::source_location where = std::source_location::current()) && {
    if (this->has_value()) return {};
    return this->error().while_doing(doing, where);
  }
};

}  // namespace outlast

#define OUTLAST_CONCAT_INNER(a, b) a##b
#define OUTLAST_CONCAT(a, b) OUTLAST_CONCAT_INNER(a, b)

// Returns the error of `expr` from this function, if there is one.
#define OUTLAST_TRY(expr)                                           \
  do {                                                              \
    if (auto outlast_result = (expr); !outlast_result) [[unlikely]] \
      return std::move(outlast_result).error();                     \
  } while (false)

// `OUTLAST_TRY_ASSIGN(auto bytes, read(path));` declares `bytes`, or returns the error.
#define OUTLAST_TRY_ASSIGN(declaration, expr) \
  OUTLAST_TRY_ASSIGN_INNER(declaration, expr, OUTLAST_CONCAT(outlast_result_, __LINE__))
#define OUTLAST_TRY_ASSIGN_INNER(declaration, expr, result) \
  auto result = (expr);                                     \
  if (!result) [[unlikely]]                                 \
    return std::move(result).error();                       \
  declaration = *std::move(result)
