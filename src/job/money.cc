#include "job/money.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"

namespace outlast::job {
namespace {

constexpr std::int64_t kMicroPerUsd = 1'000'000;
constexpr std::int64_t kUsdMax = 1'000'000'000;
constexpr std::size_t kDecimalsMax = 6;

Error bad_money(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

// Takes the digits off the front; false without any, or beyond `max`.
bool take_whole(std::string_view& text, std::int64_t max, std::int64_t& value) {
  std::size_t digits = 0;
  value = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    value = value * 10 + (text[digits] - '0');
    if (value > max) return false;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

}  // namespace

Result<Money> parse_money(std::string_view text) {
  std::int64_t whole = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') {
    return bad_money("it does not start with a number");
  }
  if (!take_whole(text, kUsdMax, whole)) return bad_money("it is too large");
  std::int64_t micro = whole * kMicroPerUsd;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t before = text.size();
    std::int64_t decimals = 0;
    if (!take_whole(text, kMicroPerUsd - 1, decimals) || before - text.size() > kDecimalsMax) {
      return bad_money("one to six decimals can follow the point");
    }
    for (std::size_t i = before - text.size(); i < kDecimalsMax; ++i) decimals *= 10;
    micro += decimals;
  }
  if (text.empty()) return bad_money("the currency is missing");
  if (text.front() != ' ') return bad_money("a space and the currency must follow the number");
  if (text.substr(1) != "USD") return bad_money("USD is the only currency known so far");
  return Money{micro};
}

std::string format_money(Money money) {
  std::string decimals = fmt::format("{:06}", money.micro_usd % kMicroPerUsd);
  while (decimals.size() > 2 && decimals.back() == '0') decimals.pop_back();
  return fmt::format("{}.{} USD", money.micro_usd / kMicroPerUsd, decimals);
}

}  // namespace outlast::job
