#include "base/yaml.h"

#include <fmt/core.h>
#include <yaml.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "base/utf8.h"

namespace outlast {
namespace {

TextPosition from_mark(const yaml_mark_t& mark) {
  return {.line = mark.line + 1, .column = mark.column + 1};
}

// What libyaml says, and what we say instead. `{}` is where the construct that it was reading
// began; some mistakes are best shown there.
struct Wording {
  std::string_view theirs;
  bool show_at_start;
  std::string_view ours;
};

constexpr std::array<Wording, 21> kWordings = {{
    {"mapping values are not allowed in this context", false,
     "a ':' cannot stand here; put the text in quotes if the ':' belongs to it, or check the "
     "indentation"},
    {"could not find expected ':'", true, "expected a key followed by ':' and a space here"},
    {"did not find expected key", false,
     "expected 'key: value' here, as in the mapping that starts at {}; check the indentation"},
    {"did not find expected '-' indicator", false,
     "expected '- ' here, as in the list that starts at {}; check the indentation"},
    {"block sequence entries are not allowed in this context", false,
     "a '- ' cannot stand here; start the list on a line of its own"},
    {"mapping keys are not allowed in this context", false, "a '? ' cannot stand here"},
    {"did not find expected ',' or ']'", false,
     "expected ',' or ']' here, in the list that was opened at {}"},
    {"did not find expected ',' or '}'", false,
     "expected ',' or '}}' here, in the mapping that was opened at {}"},
    {"did not find expected node content", false, "expected a value here"},
    {"found unexpected end of stream", true, "this quote is never closed"},
    {"found unexpected document indicator", true,
     "this quote is not closed before the document ends"},
    {"found unknown escape character", false,
     "this escape is unknown; in double quotes write '\\\\' for a backslash, or use single quotes"},
    {"found invalid Unicode character escape code", false,
     "this escape is not a Unicode character"},
    {"did not find expected hexdecimal number", false, "this escape needs more hexadecimal digits"},
    {"did not find expected <document start>", false,
     "the document ended above; this cannot follow it"},
    {"found a tab character that violates indentation", false,
     "a tab indents this line; use spaces"},
    {"found a tab character where an indentation space is expected", false,
     "a tab indents this line; use spaces"},
    {"did not find expected comment or line break", false,
     "only a comment may follow on this line"},
    {"could not find expected directive name", true,
     "a line cannot start with '%'; put the text in quotes"},
    {"found unknown directive name", true, "a line cannot start with '%'; put the text in quotes"},
    {"found incompatible YAML document", false, "only YAML 1.1 and 1.2 can be read"},
}};

class YamlEvent {
 public:
  YamlEvent() = default;
  ~YamlEvent() { yaml_event_delete(&event); }
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;

  TextPosition position() const { return from_mark(event.start_mark); }
  // Of an event that starts a node.
  bool has_anchor() const {
    return (event.type == YAML_SCALAR_EVENT && event.data.scalar.anchor != nullptr) ||
           (event.type == YAML_SEQUENCE_START_EVENT &&
            event.data.sequence_start.anchor != nullptr) ||
           (event.type == YAML_MAPPING_START_EVENT && event.data.mapping_start.anchor != nullptr);
  }
  bool has_tag() const {
    return (event.type == YAML_SCALAR_EVENT && event.data.scalar.tag != nullptr) ||
           (event.type == YAML_SEQUENCE_START_EVENT && event.data.sequence_start.tag != nullptr) ||
           (event.type == YAML_MAPPING_START_EVENT && event.data.mapping_start.tag != nullptr);
  }

  yaml_event_t event{};
};

// Reads one document. A member function that returns false has recorded why nothing more can be
// read.
class YamlReader {
 public:
  explicit YamlReader(std::string_view input) : input_(input) {
    OUTLAST_CHECK(yaml_parser_initialize(&parser_) == 1, "no memory for a YAML parser");
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(input.data()),
                                 input.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  YamlReading read() && {
    reading_.complete = read_document();
    return std::move(reading_);
  }

 private:
  bool read_document();
  bool read_node(const YamlEvent& start, std::size_t depth, YamlNode& node);
  bool read_items(std::size_t depth, YamlNode& node);
  bool read_members(std::size_t depth, YamlNode& node);
  bool next(YamlEvent& event);
  bool refuse_syntax();
  char character_at(TextPosition position) const;

  // Always false, so that a mistake which ends the reading is `return problem(…)`.
  bool problem(TextPosition position, std::string message) {
    if (reading_.problems.size() < kYamlProblemsMax) {
      reading_.problems.push_back({position, std::move(message)});
    }
    return false;
  }

  std::string_view input_;
  yaml_parser_t parser_{};
  YamlReading reading_;
  std::size_t nodes_ = 0;
};

bool YamlReader::next(YamlEvent& event) {
  if (yaml_parser_parse(&parser_, &event.event) == 1) return true;
  return refuse_syntax();
}

bool YamlReader::refuse_syntax() {
  const std::string_view theirs = parser_.problem == nullptr ? "" : parser_.problem;
  const TextPosition position = from_mark(parser_.problem_mark);
  const TextPosition start = from_mark(parser_.context_mark);
  for (const Wording& wording : kWordings) {
    if (wording.theirs != theirs) continue;
    return problem(
        wording.show_at_start ? start : position,
        fmt::format(fmt::runtime(wording.ours), fmt::format("{}:{}", start.line, start.column)));
  }
  if (theirs == "found character that cannot start any token") {
    const char character = character_at(position);
    if (character == '\t') return problem(position, "a tab indents this line; use spaces");
    return problem(
        position, fmt::format("a value cannot start with '{}'; put the text in quotes", character));
  }
  return problem(position, fmt::format("not valid YAML: {}", theirs));
}

char YamlReader::character_at(TextPosition position) const {
  TextPosition here;
  std::size_t offset = 0;
  while (offset < input_.size() && here < position) {
    const char c = input_[offset];
    const bool line_end = c == '\n' || (c == '\r' && input_.substr(offset + 1, 1) != "\n");
    here =
        line_end ? TextPosition{.line = here.line + 1} : TextPosition{here.line, here.column + 1};
    offset += decode_utf8(input_, offset).value_or(Utf8Character{}).bytes;
  }
  return offset < input_.size() ? input_[offset] : ' ';
}

bool YamlReader::read_document() {
  for (;;) {
    YamlEvent event;
    if (!next(event)) return false;
    if (event.event.type == YAML_STREAM_END_EVENT) {
      return problem({}, "the file is empty");
    }
    if (event.event.type == YAML_DOCUMENT_START_EVENT) break;
  }
  {
    YamlEvent event;
    if (!next(event) || !read_node(event, 0, reading_.root)) return false;
  }
  if (reading_.root.kind == YamlNode::Kind::kScalar && !reading_.root.quoted &&
      reading_.root.text.empty()) {
    return problem({}, "the file is empty");
  }
  YamlEvent document_end;
  YamlEvent after;
  if (!next(document_end) || !next(after)) return false;
  if (after.event.type == YAML_DOCUMENT_START_EVENT) {
    problem(after.position(), "a second document starts here; put each into a file of its own");
  }
  return true;
}

bool YamlReader::read_node(const YamlEvent& start, std::size_t depth, YamlNode& node) {
  node.position = start.position();
  if (++nodes_ > kYamlNodesMax) {
    return problem(node.position, fmt::format("the file has more than {} values", kYamlNodesMax));
  }
  if (start.event.type == YAML_ALIAS_EVENT) {
    return problem(node.position, "aliases ('*name') are not supported; write the value out");
  }
  if (start.has_anchor()) {
    return problem(node.position,
                   "anchors ('&name') are not supported; write the value out where it is used");
  }
  if (start.has_tag()) {
    problem(node.position, "tags ('!type') are not supported; write the value without one");
  }
  if (start.event.type == YAML_SCALAR_EVENT) {
    const auto& scalar = start.event.data.scalar;
    node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    return true;
  }
  if (depth == kYamlDepthMax) {
    return problem(node.position, fmt::format("nested more than {} deep", kYamlDepthMax));
  }
  const bool sequence = start.event.type == YAML_SEQUENCE_START_EVENT;
  node.kind = sequence ? YamlNode::Kind::kSequence : YamlNode::Kind::kMapping;
  return sequence ? read_items(depth + 1, node) : read_members(depth + 1, node);
}

bool YamlReader::read_items(std::size_t depth, YamlNode& node) {
  for (;;) {
    YamlEvent event;
    if (!next(event)) return false;
    if (event.event.type == YAML_SEQUENCE_END_EVENT) return true;
    if (!read_node(event, depth, node.items.emplace_back())) return false;
  }
}

bool YamlReader::read_members(std::size_t depth, YamlNode& node) {
  std::unordered_map<std::string, TextPosition> seen;
  for (;;) {
    YamlNode key;
    {
      YamlEvent event;
      if (!next(event)) return false;
      if (event.event.type == YAML_MAPPING_END_EVENT) return true;
      if (!read_node(event, depth, key)) return false;
    }
    YamlNode value;
    YamlEvent event;
    if (!next(event) || !read_node(event, depth, value)) return false;
    if (key.kind != YamlNode::Kind::kScalar) {
      problem(key.position, "a key must be a word, not a list or a mapping");
    } else if (key.text == "<<" && !key.quoted) {
      problem(key.position, "merge keys ('<<') are not supported; write the keys out");
    } else if (const auto [first, added] = seen.try_emplace(key.text, key.position); !added) {
      problem(key.position,
              fmt::format("key {} is here twice; the first is at {}:{}",
                          quote_for_message(key.text), first->second.line, first->second.column));
    } else {
      node.members.push_back({std::move(key.text), key.position, std::move(value)});
    }
  }
}

// Characters that YAML does not allow, and the three that YAML takes for line ends but no editor
// does.
bool is_refused(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
         c == 0xFFFE || c == 0xFFFF;
}

// The first thing that keeps these bytes from being text.
std::optional<YamlProblem> find_bad_character(std::string_view input) {
  if (input.starts_with("\xFF\xFE") || input.starts_with("\xFE\xFF")) {
    return YamlProblem{{}, "the file is in UTF-16; save it as UTF-8"};
  }
  if (input.find('\0') != std::string_view::npos) {
    return YamlProblem{{}, "not a text file: it contains NUL bytes"};
  }
  TextPosition here;
  for (std::size_t offset = 0; offset < input.size();) {
    const auto character = decode_utf8(input, offset);
    if (!character) return YamlProblem{here, "not a text file: this byte is not UTF-8"};
    if (is_refused(character->code)) {
      return YamlProblem{here, fmt::format("character U+{:04X} cannot stand in the file; in double "
                                           "quotes it can be written \"\\u{:04X}\"",
                                           static_cast<unsigned>(character->code),
                                           static_cast<unsigned>(character->code))};
    }
    offset += character->bytes;
    const bool line_end =
        character->code == '\n' || (character->code == '\r' && input.substr(offset, 1) != "\n");
    here =
        line_end ? TextPosition{.line = here.line + 1} : TextPosition{here.line, here.column + 1};
  }
  return std::nullopt;
}

}  // namespace

bool YamlNode::is_null() const {
  return kind == Kind::kScalar && !quoted &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

YamlReading read_yaml(std::string_view input) {
  YamlReading refused;
  if (input.size() > kYamlBytesMax) {
    refused.problems.push_back(
        {{}, fmt::format("the file is larger than {}", format_bytes(kYamlBytesMax))});
    return refused;
  }
  if (input.starts_with("\xEF\xBB\xBF")) input.remove_prefix(3);
  if (auto bad = find_bad_character(input)) {
    refused.problems.push_back(*std::move(bad));
    return refused;
  }
  return YamlReader(input).read();
}

}  // namespace outlast
