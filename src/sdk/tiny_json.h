#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// As much JSON as a snapshot's header and the agent's messages need, so that a trainer links
// nothing for it.
namespace outlast::sdk {

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;
  std::optional<std::uint64_t> whole = {};  // a number without sign, point and exponent
  std::string text = {};
  std::vector<JsonValue> items = {};    // of an array, or an object's values
  std::vector<std::string> names = {};  // of an object's items

  // An object's member; nullptr if there is none, or this is no object.
  const JsonValue* find(std::string_view name) const;
};

// Strict: nothing but one value and white space, in UTF-8, nested at most this deep; else nullopt.
// Whether an object names a member twice is left to the caller; find() takes the first.
inline constexpr std::size_t kJsonDepthMax = 16;
std::optional<JsonValue> read_json(std::string_view text);

// Appends `text`, which must be UTF-8, in quotes.
void append_json_string(std::string& out, std::string_view text);
// Appends a number that is finite, such that reading it gives the same again, in whatever locale.
void append_json_number(std::string& out, double number);

bool is_utf8(std::string_view text);

}  // namespace outlast::sdk
