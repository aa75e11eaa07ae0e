#include "base/yaml.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace outlast {
namespace {

// "line:column: message" of the only problem; "" if there is none, "several" if there are more.
std::string only_problem(std::string_view input) {
  const YamlReading reading = read_yaml(input);
  if (reading.problems.empty()) return "";
  if (reading.problems.size() > 1) return "several";
  const YamlProblem& problem = reading.problems.front();
  return std::to_string(problem.position.line) + ":" + std::to_string(problem.position.column) +
         ": " + problem.message;
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Yaml, KeepsOrderPositionsAndExactText) {
  const YamlReading reading = read_yaml("b: 010\na:\n  - 'no'\n  - on\nempty:\n");
  ASSERT_TRUE(reading.problems.empty());
  ASSERT_TRUE(reading.complete);
  ASSERT_EQ(reading.root.members.size(), 3U);
  EXPECT_EQ(reading.root.members[0].key, "b");
  EXPECT_EQ(reading.root.members[0].value.text, "010");
  EXPECT_FALSE(reading.root.members[0].value.quoted);
  EXPECT_EQ(reading.root.members[0].value.position, (TextPosition{1, 4}));
  const YamlNode* list = reading.root.find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_TRUE(list->items[0].quoted);
  EXPECT_EQ(list->items[0].text, "no");
  EXPECT_EQ(list->items[1].text, "on");
  EXPECT_EQ(list->items[1].position, (TextPosition{4, 5}));
  EXPECT_TRUE(reading.root.find("empty")->is_null());
  EXPECT_EQ(reading.root.find("none"), nullptr);
}

TEST(Yaml, CountsColumnsInCharactersAfterMarkAndCrLf) {
  const YamlReading reading = read_yaml("\xEF\xBB\xBF{ä: 1, b: 2}\r\n# é\r\n");
  ASSERT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.root.members[0].key_position, (TextPosition{1, 2}));
  EXPECT_EQ(reading.root.members[1].key_position, (TextPosition{1, 8}));
  const YamlReading crlf = read_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(crlf.root.members[1].value.text, "2");
  EXPECT_EQ(crlf.root.members[1].value.position, (TextPosition{2, 4}));
}

TEST(Yaml, RefusesWhatIsNotOneTextDocument) {
  EXPECT_EQ(only_problem(""), "1:1: the file is empty");
  EXPECT_EQ(only_problem("# only this\n"), "1:1: the file is empty");
  EXPECT_EQ(only_problem("---\n"), "1:1: the file is empty");
  EXPECT_EQ(only_problem("a: 1\n---\nb: 2\n"),
            "2:1: a second document starts here; put each into a file of its own");
  EXPECT_EQ(only_problem(std::string_view("a: \0", 4)),
            "1:1: not a text file: it contains NUL bytes");
  EXPECT_EQ(only_problem("a: 1\nb: \xFF"), "2:4: not a text file: this byte is not UTF-8");
  EXPECT_EQ(only_problem("\xFF\xFE"
                         "a"),
            "1:1: the file is in UTF-16; save it as UTF-8");
  EXPECT_EQ(only_problem("a: \x1B[31m"),
            "1:4: character U+001B cannot stand in the file; in double quotes it can be written "
            "\"\\u001B\"");
  EXPECT_EQ(only_problem(std::string(kYamlBytesMax + 1, 'a')), "1:1: the file is larger than 1MiB");
  EXPECT_EQ(only_problem(std::string(kYamlBytesMax, 'a')), "");
}

TEST(Yaml, RefusesWhatSurprises) {
  EXPECT_EQ(only_problem("a: &x 1\n"),
            "1:4: anchors ('&name') are not supported; write the value out where it is used");
  EXPECT_EQ(only_problem("a: *x\n"),
            "1:4: aliases ('*name') are not supported; write the value out");
  EXPECT_EQ(only_problem("a: !!int 1\n"),
            "1:4: tags ('!type') are not supported; write the value without one");
  EXPECT_EQ(only_problem("a: 1\n<<: {b: 1}\n"),
            "2:1: merge keys ('<<') are not supported; write the keys out");
  EXPECT_EQ(only_problem("a: 1\nb: 2\n'a': 3\n"),
            "3:1: key 'a' is here twice; the first is at 1:1");
  EXPECT_EQ(only_problem("? [a]\n: 1\n"), "1:3: a key must be a word, not a list or a mapping");
}

TEST(Yaml, GoesOnAfterMistakesThatLeaveTheRestReadable) {
  const YamlReading reading = read_yaml("a: 1\na: 2\n<<: 3\nb: !x 4\n");
  EXPECT_EQ(reading.problems.size(), 3U);
  EXPECT_TRUE(reading.complete);
  EXPECT_EQ(reading.root.find("a")->text, "1");
  EXPECT_EQ(reading.root.find("b")->text, "4");
}

TEST(Yaml, SaysSyntaxErrorsInPlainWords) {
  EXPECT_EQ(only_problem("a:\n\tb: 1\n"), "2:1: a tab indents this line; use spaces");
  EXPECT_EQ(only_problem("a: @b\n"), "1:4: a value cannot start with '@'; put the text in quotes");
  EXPECT_EQ(
      only_problem("a: b: c\n"),
      "1:5: a ':' cannot stand here; put the text in quotes if the ':' belongs to it, or check "
      "the indentation");
  EXPECT_EQ(only_problem("%a\n"), "1:1: a line cannot start with '%'; put the text in quotes");
  EXPECT_EQ(only_problem("a: 'b\nc: 1\n"), "1:4: this quote is never closed");
  EXPECT_EQ(only_problem("a: [1, 2\nb: 1\n"),
            "2:2: expected ',' or ']' here, in the list that was opened at 1:4");
  EXPECT_EQ(only_problem("a: {b: 1\n"),
            "2:1: expected ',' or '}' here, in the mapping that was opened at 1:4");
  EXPECT_EQ(only_problem("a: 1\nb\nc: 2\n"),
            "2:1: expected a key followed by ':' and a space here");
  EXPECT_EQ(only_problem("a: \"\\q\"\n"),
            "1:5: this escape is unknown; in double quotes write '\\\\' for a backslash, or use "
            "single quotes");
  EXPECT_EQ(
      only_problem("a: 1\n b: 2\n"),
      "2:3: a ':' cannot stand here; put the text in quotes if the ':' belongs to it, or check "
      "the indentation");
  EXPECT_EQ(only_problem("a:\n  - 1\n  b: 2\n"),
            "3:3: expected '- ' here, as in the list that starts at 2:3; check the indentation");
}

TEST(Yaml, BoundsDepthAndSize) {
  EXPECT_EQ(only_problem(repeat("[", kYamlDepthMax) + repeat("]", kYamlDepthMax)), "");
  EXPECT_EQ(only_problem(repeat("[", 33) + repeat("]", 33)), "1:33: nested more than 32 deep");
  EXPECT_EQ(only_problem(repeat("[", kYamlBytesMax)), "1:33: nested more than 32 deep");
  EXPECT_EQ(only_problem("[" + repeat("a,", kYamlNodesMax - 1) + "]"), "");
  EXPECT_EQ(only_problem("[" + repeat("a,", kYamlNodesMax) + "]"),
            "1:200000: the file has more than 100000 values");
  EXPECT_EQ(read_yaml(repeat("a: 1\n", 40'000)).problems.size(), kYamlProblemsMax);
}

TEST(Yaml, ScalarsAreReadBack) {
  const std::string_view cases[] = {"",
                                    "a",
                                    "python t.py --n 3",
                                    "no",
                                    "Null",
                                    "010",
                                    "1e3",
                                    "0x1f",
                                    "2026-11-15",
                                    "12h",
                                    "~",
                                    "~/x",
                                    "a: b",
                                    "a #b",
                                    "a#b",
                                    "- a",
                                    "[a]",
                                    "a, b",
                                    " a ",
                                    "a:",
                                    "gs://b/c",
                                    "it's",
                                    "\"",
                                    "\\",
                                    "a\nb",
                                    "\t",
                                    "é",
                                    "\x7F",
                                    "%a",
                                    "...",
                                    "\xC2\x85",
                                    "\xE2\x80\xA8",
                                    "\xEF\xBB\xBF",
                                    "<<",
                                    "=",
                                    "*",
                                    "&a"};
  for (const std::string_view text : cases) {
    const std::string written = yaml_scalar(text);
    for (const std::string& yaml : {"k: " + written + "\n", "k: [" + written + ", x]\n"}) {
      const YamlReading reading = read_yaml(yaml);
      ASSERT_TRUE(reading.problems.empty()) << yaml << reading.problems[0].message;
      const YamlNode& value = reading.root.members[0].value;
      EXPECT_EQ(value.items.empty() ? value.text : value.items[0].text, text) << yaml;
    }
  }
  EXPECT_EQ(yaml_scalar("python t.py --n 3"), "python t.py --n 3");
  EXPECT_EQ(yaml_scalar("2d"), "2d");
  EXPECT_EQ(yaml_scalar("010"), "\"010\"");
}

TEST(Yaml, BlocksAreReadBack) {
  for (const std::string_view text :
       {"a\nb", "a\n\n  b\n c", "a\n# b: c", "a \n b", " a\nb", "a\nb\n", "a\r\nb", "a\n\tb",
        "\ta\nb", "a\n---\nb", "one: 1", "é\nß"}) {
    const std::string yaml = "k:\n  j: " + yaml_block(text, 4) + "\n  z: 1\n";
    const YamlReading reading = read_yaml(yaml);
    ASSERT_TRUE(reading.problems.empty()) << yaml << reading.problems[0].message;
    EXPECT_EQ(reading.root.members[0].value.find("j")->text, text) << yaml;
  }
  EXPECT_EQ(yaml_block("a\n\nb", 2), "|-\n  a\n\n  b");
}

TEST(Yaml, MessagesCannotDrawOnATerminal) {
  EXPECT_EQ(quote_for_message("a\x1B[31m\n"), "'a\\x1b[31m\\n'");
  EXPECT_EQ(quote_for_message("\xE2\x80\xAE"
                              "a"),
            "'\\u202ea'");
  EXPECT_EQ(quote_for_message("\xFF"), "'\xEF\xBF\xBD'");
  EXPECT_EQ(quote_for_message(std::string(100, 'a')), "'" + std::string(60, 'a') + "…'");
}

TEST(Utf8, RefusesOverlongSurrogatesAndCutCharacters) {
  for (const std::string_view bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                     "\xE2\x82", "\x80", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(decode_utf8(bad, 0).has_value());
  }
  EXPECT_EQ(decode_utf8("\xE2\x82\xAC", 0)->code, U'€');
  EXPECT_EQ(decode_utf8("\xF0\x9F\x98\x80", 0)->bytes, 4U);
}

}  // namespace
}  // namespace outlast
