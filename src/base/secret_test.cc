#include "base/secret.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/log.h"

namespace outlast {
namespace {

// There is no way from a secret into a log field, JSON or a text, short of reveal().
static_assert(!std::is_constructible_v<LogValue, Secret<std::string>>);
static_assert(!std::is_constructible_v<Json, Secret<std::string>>);
static_assert(!std::is_constructible_v<std::string, Secret<std::string>>);
static_assert(!std::is_convertible_v<std::string, Secret<std::string>>);
static_assert(!std::is_convertible_v<Secret<std::string>, std::string_view>);
static_assert(!std::is_convertible_v<Secret<bool>, bool>);

constexpr std::string_view kShort = "hunter2";  // lies inside the std::string
constexpr std::string_view kLong = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

TEST(Secret, NeverPrints) {
  const Secret<std::string> secret{std::string(kLong)};
  std::ostringstream out;
  out << secret;
  EXPECT_EQ(out.str(), "[secret]");
  EXPECT_EQ(fmt::format("{}", secret), "[secret]");
  EXPECT_EQ(fmt::format("{:>10}", secret), "  [secret]");
  EXPECT_EQ(fmt::format("{}", Secret<int>(42)), "[secret]");
  EXPECT_EQ(::testing::PrintToString(secret), "[secret]");
}

TEST(Secret, RevealsItsValue) {
  EXPECT_EQ(Secret<std::string>(std::string(kLong)).reveal(), kLong);
  EXPECT_EQ(Secret<int>(42).reveal(), 42);
  EXPECT_EQ(Secret<std::string>().reveal(), "");
}

TEST(Secret, ComparesWhole) {
  const auto secret = [](std::string_view text) { return Secret<std::string>(std::string(text)); };
  EXPECT_EQ(secret("abc"), secret("abc"));
  EXPECT_NE(secret("abc"), secret("abd"));
  EXPECT_NE(secret("abc"), secret("ab"));
  EXPECT_NE(secret("ab"), secret("abc"));
  EXPECT_NE(secret(""), secret("a"));
  EXPECT_NE(secret("abc"), secret(std::string_view("abc\0", 4)));
}

TEST(Secret, CopiesAndMoves) {
  Secret<std::string> first{std::string(kLong)};
  Secret<std::string> copy = first;
  Secret<std::string> moved = std::move(first);
  EXPECT_EQ(copy.reveal(), kLong);
  EXPECT_EQ(moved.reveal(), kLong);
  copy = Secret<std::string>(std::string(kShort));
  EXPECT_EQ(copy.reveal(), kShort);
  copy = moved;
  EXPECT_EQ(copy, moved);
}

// A place for one object whose bytes can be looked at after the object is gone.
template <typename T>
struct Place {
  alignas(T) std::array<std::byte, sizeof(T)> bytes{};

  template <typename... Args>
  T* make(Args&&... args) {
    return new (bytes.data()) T(std::forward<Args>(args)...);
  }
  // Reads through volatile: the compiler may otherwise assume that nobody looks at a dead object.
  bool holds(std::string_view text) const {
    std::string now;
    for (const volatile std::byte& b : bytes) now += static_cast<char>(b);
    return now.find(text) != std::string::npos;
  }
};

TEST(Secret, WipesItsMemoryWhenItGoes) {
  Place<Secret<std::string>> place;
  auto* secret = place.make(std::string(kShort));
  ASSERT_TRUE(place.holds(kShort)) << "the test looks in the wrong place";
  secret->~Secret();
  EXPECT_FALSE(place.holds(kShort));

  Place<Secret<std::uint64_t>> number;
  auto* plain = number.make(std::uint64_t{0x4142434445464748});
  ASSERT_TRUE(number.holds("HGFEDCBA"));
  plain->~Secret();
  EXPECT_FALSE(number.holds("HGFEDCBA"));
}

TEST(Secret, WipesWhatItWasMovedFrom) {
  Place<Secret<std::string>> place;
  auto* from = place.make(std::string(kShort));
  const Secret<std::string> to = std::move(*from);
  EXPECT_EQ(to.reveal(), kShort);
  EXPECT_FALSE(place.holds(kShort));
  from->~Secret();
}

// Remembers what every buffer held when it was given back.
struct Confiscated {
  static inline std::string bytes;
};
template <typename T>
struct ConfiscatingAllocator {
  using value_type = T;
  ConfiscatingAllocator() = default;
  template <typename U>
  ConfiscatingAllocator(const ConfiscatingAllocator<U>&) {}  // NOLINT: rebinding is implicit
  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* at, std::size_t n) {
    Confiscated::bytes.append(reinterpret_cast<const char*>(at), n * sizeof(T));
    std::allocator<T>().deallocate(at, n);
  }
  friend bool operator==(const ConfiscatingAllocator&, const ConfiscatingAllocator&) = default;
};

TEST(Secret, WipesTheHeapBeforeGivingItBack) {
  using Text = std::basic_string<char, std::char_traits<char>, ConfiscatingAllocator<char>>;
  Confiscated::bytes.clear();
  {
    const Text plain(kLong);
  }
  ASSERT_NE(Confiscated::bytes.find(kLong), std::string::npos) << "the allocator is not used";
  Confiscated::bytes.clear();
  {
    const Secret<Text> secret{Text(kLong)};
  }
  EXPECT_FALSE(Confiscated::bytes.empty());
  EXPECT_TRUE(std::all_of(Confiscated::bytes.begin(), Confiscated::bytes.end(),
                          [](char c) { return c == '\0'; }));
}

}  // namespace
}  // namespace outlast
