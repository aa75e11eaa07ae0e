#include "job/line_pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <functional>
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
      {"(a", "a '(' is not closed"},
      {"a)", "a ')' has no '('"},
      {"[a", "a '[' is not closed"},
      {"[]", "there is nothing in a '[]'"},
      {"[é]", "only ASCII can be in a '['"},
      {"[z-a]", "'z-a' is no range of characters"},
      {"[\\q]", "'\\q' is not known in a '['"},
      {"*a", "there is nothing before '*'"},
      {"a**", "there is nothing before '*'"},
      {"(|+)", "there is nothing before '+'"},
      {"a{3}{4}", "there is nothing before '{'"},
      {"a{3,2}", "{3,2} is no count from 0 to 1000"},
      {"a{1001}", "{1001} is no count from 0 to 1000"},
      {"a\\", "it ends with '\\'"},
      {"\\q", "'\\q' is not known"},
      {"(a)\\1", "\\1 is not supported"},
      {"(?=a)", "(?= is not supported"},
      {"(?<!a)", "(?<! is not supported"},
      {"(?i)a", "a '(?' must be (?<name>, (?P<name> or (?:"},
      {"(?<step", "the name of a group ends with '>'"},
      {"(?<2a>x)", "'2a' is no name for a group: use up to 64 letters, digits and '_'"},
      {"(?<a>x)(?<a>y)", "two groups are named 'a'"},
      {"((a{100}){100}){100}", "it is too large; use smaller counts"},
      {std::string(40, '(') + std::string(40, ')'), "it is nested more than 30 deep"},
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

// A small expression and how a backtracking search goes through it.
struct Tried {
  std::string text = {};
  bool can_be_empty = false;
  // Calls `then` with each end of a match from `at` on, best first, until it returns true.
  using Then = std::function<bool(std::size_t)>;
  std::function<bool(std::string_view, std::size_t, const Then&)> match = {};
};

Tried any_tried(int depth) {
  const int kind = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  if (kind == 0) {
    const char c = *rc::gen::element('a', 'b');
    return {.text = std::string(1, c),
            .match = [c](std::string_view line, std::size_t at, const Tried::Then& then) {
              return at < line.size() && line[at] == c && then(at + 1);
            }};
  }
  const Tried first = any_tried(depth - 1);
  if (kind == 3 && !first.can_be_empty) {
    const bool lazy = *rc::gen::arbitrary<bool>();
    const auto match = [first, lazy](const auto& self, std::string_view line, std::size_t at,
                                     const Tried::Then& then) -> bool {
      if (lazy && then(at)) return true;
      const auto again = [&](std::size_t end) { return self(self, line, end, then); };
      if (first.match(line, at, again)) return true;
      return !lazy && then(at);
    };
    return {.text = "(?:" + first.text + ")*" + (lazy ? "?" : ""),
            .can_be_empty = true,
            .match = [match](std::string_view line, std::size_t at, const Tried::Then& then) {
              return match(match, line, at, then);
            }};
  }
  const Tried second = any_tried(depth - 1);
  if (kind == 2) {
    return {.text = "(?:" + first.text + "|" + second.text + ")",
            .can_be_empty = first.can_be_empty || second.can_be_empty,
            .match = [=](std::string_view line, std::size_t at, const Tried::Then& then) {
              return first.match(line, at, then) || second.match(line, at, then);
            }};
  }
  return {.text = first.text + second.text,
          .can_be_empty = first.can_be_empty && second.can_be_empty,
          .match = [=](std::string_view line, std::size_t at, const Tried::Then& then) {
            return first.match(line, at,
                               [&](std::size_t end) { return second.match(line, end, then); });
          }};
}

RC_GTEST_PROP(LinePatternProperty, FindsWhatABacktrackingSearchFinds, ()) {
  const Tried before = any_tried(2);
  const Tried inside = any_tried(3);
  const Tried after = any_tried(2);
  const std::string line = *rc::gen::container<std::string>(rc::gen::element('a', 'a', 'b', 'c'));
  std::string expected = "no";
  for (std::size_t start = 0; start <= line.size() && expected == "no"; ++start) {
    before.match(line, start, [&](std::size_t begin) {
      return inside.match(line, begin, [&](std::size_t end) {
        return after.match(line, end, [&](std::size_t) {
          expected = line.substr(begin, end - begin);
          return true;
        });
      });
    });
  }
  RC_ASSERT(taken(before.text + "(?<g>" + inside.text + ")" + after.text, line) == expected);
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
