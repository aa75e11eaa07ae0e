#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace outlast::cloud {

// A setting; `nested` holds the indented settings below one that has no value itself:
//   s3 =
//     addressing_style = path
struct IniSetting {
  std::string key = {};  // lower case
  std::string value = {};
  std::vector<std::pair<std::string, std::string>> nested = {};
};

struct IniSection {
  std::string name = {};  // "profile train", with single spaces and without quotes
  std::vector<IniSetting> settings = {};

  // The last one of this name, or nullptr.
  const IniSetting* find(std::string_view key) const;
};

// A section that stands there twice appears twice.
using IniFile = std::vector<IniSection>;

// The INI dialect of ~/.aws: '#' and ';' begin a comment at the start of a line, or after white
// space following a section's name or a value; indented lines continue or nest. kCorrupt, with the
// line's number and never its content, for what is neither a section nor a setting. `text` may be
// hostile.
Result<IniFile> parse_ini(std::string_view text);

}  // namespace outlast::cloud
