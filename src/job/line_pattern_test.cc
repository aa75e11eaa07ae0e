#include "job/line_pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outlast::job {
namespace {
namespace line_pattern_test {

// What group g of the expression takes from `line`; "-" if it takes no part, "no" without a match.
std::string taken(std::string_view expression, std::string_view line) {
  const auto pattern = LinePattern::compile(expression);
  if (!pattern) return pattern.error().sentence();
  const auto groups = pattern->find(line);
  if (!groups) return "no";
  return (*groups)[0] ? std::string(*(*groups)[0]) : "-";
}

TEST(LinePattern, FindsTheLeftmostMatch) {
  struct Case {
    std::string_view expression;
    std::string_view line;
    std::string_view expected;
  };
  const Case cases[] = {
      {"(?<g>\\d+)", "step 400 of 1000", "400"},
      {"(?P<g>\\d+)$", "step 400 of 1000", "1000"},
      {"^(?<g>\\w+)", "step 400", "step"},
      {"^(?<g>\\d+)", "step 400", "no"},
      {"(?<g>)", "abc", ""},
      {"loss[:=]\\s*(?<g>[-+.\\deE]+)", "a loss:  -1.5e-3, b", "-1.5e-3"},
      {"(?<g>a+?)b*", "aab", "a"},
      {"(?<g>a+?)b", "aab", "aa"},
      {"(?<g>a|ab)c?", "abc", "a"},
      {"(?<g>ab|a)c?", "abc", "ab"},
      {"(?<g>a|ab)c", "abc", "ab"},
      {"x(?:(?<g>a)|b)", "xb", "-"},
      {"(?:(?<g>[ab])-)*", "a-b-", "b"},
      {"(?<g>[^ \\]]+)\\]", "x [ab]", "[ab"},
      {"(?<g>[a-c-]+)", "x-b-d", "-b-"},
      {"\\bstep\\b.(?<g>.)", "steps step 4", "4"},
      {"\\Bs(?<g>.)", "s xst", "t"},
      {"(?<g>\\d{2,3})", "1 12345", "123"},
      {"(?<g>\\d{2,3}?)", "1 12345", "12"},
      {"(?<g>\\d{2,})", "1 12345", "12345"},
      {"(?<g>\\d{3})", "12 12345", "123"},
      {"{'loss': (?<g>[\\d.]+)}", "{'loss': 0.5}", "0.5"},
      {"a{,2}(?<g>.)", "a{,2}x", "x"},
      {"é+(?<g>.)", "ééx", "x"},
      {"(?<g>\\S+)\\t", "a b\t", "b"},
      {"\\.\\*\\\\(?<g>\\/)", "a.*\\/", "/"},
      {"", "a", "-"},
  };
  for (const Case& test : cases) {
    if (test.expression.empty()) {
      EXPECT_TRUE(LinePattern::compile("")->find("a"));
      continue;
    }
    EXPECT_EQ(taken(test.expression, test.line), test.expected) << test.expression;
  }
}

TEST(LinePattern, NamesItsGroups) {
  const auto pattern = LinePattern::compile("(?<step>\\d+)(a)(?:b)(?P<_loss2>\\d)");
  ASSERT_TRUE(pattern) << pattern.error().to_string();
  EXPECT_EQ(pattern->names(), (std::vector<std::string>{"step", "_loss2"}));
  const auto groups = pattern->find("12ab3");
  ASSERT_TRUE(groups);
  EXPECT_EQ(*groups, (LinePattern::Groups{"12", "3"}));
}

TEST(LinePattern, SaysWhatItCannotUse) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"(a", "missing ): (a"},
      {"a)", "unexpected ): a)"},
      {"[a", "missing ]: [a"},
      {"[z-a]", "invalid character class range: z-a"},
      {"*a", "no argument for repetition operator: *"},
      {"a\\", "trailing \\"},
      {"(a)\\1", "invalid escape sequence: \\1"},
      {"(?=a)", "invalid perl operator: (?="},
      {"(?<!a)", "invalid perl operator: (?<"},
      {"(?<2 a>x)", "invalid named capture group: (?P<2 a>"},
      {"(?<a>x)(?<a>y)", "two groups are named 'a'"},
      {"((a{100}){100}){100}", "invalid repetition size: {100}"},
      {std::string(1001, 'a'), "it is longer than 1000 characters"},
  };
  for (const auto& [expression, why] : cases) {
    const auto pattern = LinePattern::compile(expression);
    ASSERT_FALSE(pattern) << expression;
    EXPECT_EQ(pattern.error().sentence(), why) << expression;
  }
  std::string many;
  for (int i = 0; i < 17; ++i) many += "(?<g" + std::to_string(i) + ">a)";
  EXPECT_EQ(LinePattern::compile(many).error().sentence(), "it has more than 16 named groups");
}

// Each makes a backtracking search try more ways than there are atoms; a test that hangs has
// failed.
TEST(LinePattern, NoExpressionIsSlow) {
  const std::string line = std::string(4'000, 'a') + "!";
  for (const std::string_view expression :
       {"(?<g>(a+)+)$", "(?<g>(a|a)*)b", "(?<g>(a|aa)+)$", "(?<g>(.*a){20})$", "(?<g>a*a*a*a*a*)b",
        "(?<g>(a*)*)*b", "(?<g>(|a)+)b", "(?<g>((a?){20}){20})b"}) {
    EXPECT_EQ(taken(expression, line), "no") << expression;
  }
  EXPECT_EQ(taken("(?<g>(a+)+)!$", line), std::string(4'000, 'a'));
}

RC_GTEST_PROP(LinePatternProperty, AnyTextIsAPatternOrASentence, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::element('(', ')', '[', ']', '{', '}', '?', '*', '+', '\\', '|', '<',
                                      '>', '1', ',', '-', '^', '$', '.', 'a', ':', 'P'),
                     rc::gen::arbitrary<char>()));
  const auto pattern = LinePattern::compile(text);
  if (pattern) {
    pattern->find("a1 -bc");
  } else {
    RC_ASSERT(!pattern.error().sentence().empty());
  }
}

}  // namespace line_pattern_test
}  // namespace
}  // namespace outlast::job
