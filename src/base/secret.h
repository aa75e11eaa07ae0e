#pragma once

#include <fmt/core.h>
#include <string.h>  // explicit_bzero

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace outlast {

// A password, key or token. It prints as "[secret]" wherever it is printed by mistake, has no way
// into JSON or a log field, and wipes its memory when it goes. Only reveal() gives the value: call it
// where the value is used (a signature, a header), never to pass it on.
template <typename T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.wipe(); }
  Secret& operator=(Secret other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Secret() { wipe(); }

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
  void wipe() {
    if constexpr (std::same_as<T, std::string>) {
      // The whole buffer: after a move or a shrink, old bytes lie beyond size().
      value_.resize(value_.capacity());
      explicit_bzero(value_.data(), value_.size());
      value_.clear();
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
