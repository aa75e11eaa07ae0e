#pragma once

#include <fmt/format.h>  // core.h declares what formats a string_view, but does not define it
#include <string.h>      // explicit_bzero

#include <concepts>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace outlast {

// A password, key or token. It prints as "[secret]" wherever it is printed by mistake, has no way
// into JSON or a log field, and wipes its memory when it goes. Only reveal() gives the value: call
// it where the value is used (a signature, a header), never to pass it on. T is a string, a vector
// of plain values, or a plain value.
template <typename T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) { wipe(value); }
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { wipe(other.value_); }
  Secret& operator=(Secret other) noexcept {
    wipe(value_);
    value_ = std::move(other.value_);  // not a swap, whose temporary nobody would wipe
    return *this;
  }
  ~Secret() { wipe(value_); }

  const T& reveal() const { return value_; }
  // Compares in time that depends on the lengths only.
  friend bool operator==(const Secret& a, const Secret& b)
    requires std::same_as<T, std::string>
  {
    unsigned char difference = a.value_.size() == b.value_.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.value_.size() && i < b.value_.size(); ++i) {
      difference |= static_cast<unsigned char>(a.value_[i] ^ b.value_[i]);
    }
    return difference == 0;
  }

 private:
  static void wipe(T& value) {
    if constexpr (requires { value.resize(value.capacity()); }) {
      // The whole buffer: after a move or a shrink, old bytes lie beyond size().
      value.resize(value.capacity());
      if (!value.empty()) explicit_bzero(value.data(), value.size() * sizeof(*value.data()));
      value.clear();
    } else {
      static_assert(std::is_trivially_copyable_v<T>, "Secret<T> would not know how to wipe a T");
      explicit_bzero(&value, sizeof(value));
    }
  }

  T value_{};
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const Secret<T>&) {
  return out << "[secret]";
}

}  // namespace outlast

template <typename T>
struct fmt::formatter<outlast::Secret<T>> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const outlast::Secret<T>&, Context& context) const {
    return fmt::formatter<std::string_view>::format("[secret]", context);
  }
};
