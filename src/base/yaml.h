#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// A strict YAML reader over libyaml's events. It reads the part of YAML that people mean: mappings,
// lists and scalars, one document. What surprises (anchors, aliases, tags, merge keys, the same key
// twice) is refused with a sentence, and nothing in a file can make it use more than a bounded
// amount of memory or time. Scalars keep their exact text: 010, no and 1e3 become numbers or truth
// values only where the reader of the tree asks for one. Pure and thread-safe: no I/O, no state.
namespace outlast {

inline constexpr std::size_t kYamlBytesMax = 1U << 20U;
inline constexpr std::size_t kYamlDepthMax = 32;
inline constexpr std::size_t kYamlNodesMax = 100'000;
// Of the mistakes in one file, the first so many are kept.
inline constexpr std::size_t kYamlProblemsMax = 1'000;

// Where something starts. Both count from 1, and a column is one character as an editor shows it: a
// letter of several bytes counts once, a byte-order mark not at all.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
  friend auto operator<=>(const TextPosition&, const TextPosition&) = default;
};

struct YamlMember;

struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };

  Kind kind = Kind::kScalar;
  TextPosition position;
  // Scalars only. Quoted: written in quotes or as a block, so certainly meant as text.
  bool quoted = false;
  std::string text;
  // Sequences only.
  std::vector<YamlNode> items;
  // Mappings only, in the order of the file; no key appears twice.
  std::vector<YamlMember> members;

  // Nothing was written, or the plain words YAML has for nothing: ~ and null.
  bool is_null() const;
  // The value of this key, or nullptr. Linear in the number of members.
  const YamlNode* find(std::string_view key) const;
};

struct YamlMember {
  std::string key;
  TextPosition key_position;
  YamlNode value;
};

// One thing that is wrong, as a sentence without its place.
struct YamlProblem {
  TextPosition position;
  std::string message;
};

struct YamlReading {
  // What was written, if `problems` is empty. Otherwise good only for looking for more mistakes,
  // and only if `complete`.
  YamlNode root;
  // The file could be read to its end. Mistakes that leave the rest readable (a key twice, a tag, a
  // merge key) do not prevent that; a syntax error does.
  bool complete = false;
  std::vector<YamlProblem> problems;
};

// Reads one document. Accepts a byte-order mark, and lines that end with LF, CRLF or CR.
YamlReading read_yaml(std::string_view input);

// The scalar as YAML text on one line: as it is where every YAML reader takes it for that text,
// else in double quotes. `text` must be UTF-8. read_yaml() gives back the same text.
std::string yaml_scalar(std::string_view text);

// The same for a text of several lines, as a block ("|-") whose lines are indented by `indent`
// spaces, where the text can be written so; else as yaml_scalar() does. No line end after it.
std::string yaml_block(std::string_view text, std::size_t indent);

// Somebody's text, in single quotes, for a message: shortened, and with control characters (also
// those that turn writing around) escaped so that a file cannot draw on a terminal.
std::string quote_for_message(std::string_view text);

}  // namespace outlast
