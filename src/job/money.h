#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outlast::job {

// An amount of US dollars, exact: whole millionths of a dollar, never a floating-point number.
struct Money {
  std::int64_t micro_usd = 0;
  friend auto operator<=>(const Money&, const Money&) = default;
};

// "5 USD", "5.00 USD", "0.0123 USD": an amount, a space, a currency. At most six decimals, at most
// a billion dollars, never negative. Only USD is known so far. What fails is kInvalidArgument, and
// the sentence is what is wrong, without the amount itself.
Result<Money> parse_money(std::string_view text);
// With at least two decimals, and no more than it needs: "5.00 USD", "0.0123 USD". Read back
// exactly.
std::string format_money(Money money);

}  // namespace outlast::job
