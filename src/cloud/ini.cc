#include "cloud/ini.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"

// By hand: libinih cuts lines at 200 bytes, which is less than a session token has.
namespace outlast::cloud {
namespace {

constexpr std::string_view kIniBlanks = " \t";

bool is_ini_blank(char c) {
  return c == ' ' || c == '\t';
}
bool begins_ini_comment(char c) {
  return c == '#' || c == ';';
}

std::string_view trim_ini(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kIniBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kIniBlanks) - first + 1);
}

// Without the comment after it. Not within quotes: a credential_process may have a ';' there.
std::string_view cut_ini_comment(std::string_view value) {
  char quote = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (begins_ini_comment(c) && (i == 0 || is_ini_blank(value[i - 1]))) {
      return trim_ini(value.substr(0, i));
    }
  }
  return value;
}

// `profile  "my train"` -> `profile my train`.
std::string section_name(std::string_view text) {
  std::string name;
  for (const char c : trim_ini(text)) {
    if (c == '"' || c == '\'') continue;
    if (!is_ini_blank(c)) {
      name += c;
    } else if (!name.ends_with(' ')) {
      name += ' ';
    }
  }
  return name;
}

// The key and the value of "key = value"; an empty key if it is not that.
std::pair<std::string, std::string> split_setting(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  return {ascii_lower(trim_ini(line.substr(0, equals))),
          std::string(cut_ini_comment(trim_ini(line.substr(equals + 1))))};
}

// Adds one line, without its end, to what was read before it. False if it is malformed.
bool add_ini_line(std::string_view line, IniFile& file) {
  const std::string_view text = trim_ini(line);
  if (text.empty() || begins_ini_comment(text.front())) return true;
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    const std::string_view rest = trim_ini(text.substr(close + 1));
    if (!rest.empty() && !begins_ini_comment(rest.front())) return false;
    file.push_back({.name = section_name(text.substr(1, close - 1))});
    return true;
  }
  if (file.empty()) return false;
  std::vector<IniSetting>& settings = file.back().settings;
  auto [key, value] = split_setting(text);
  if (is_ini_blank(line.front()) && !settings.empty()) {
    IniSetting& above = settings.back();
    if (!above.value.empty()) {
      above.value += '\n';
      above.value += text;
      return true;
    }
    if (key.empty()) return false;
    above.nested.emplace_back(std::move(key), std::move(value));
    return true;
  }
  if (key.empty()) return false;
  settings.push_back({.key = std::move(key), .value = std::move(value)});
  return true;
}

}  // namespace

const IniSetting* IniSection::find(std::string_view key) const {
  const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                  [&](const IniSetting& setting) { return setting.key == key; });
  return found == settings.rend() ? nullptr : &*found;
}

Result<IniFile> parse_ini(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  IniFile file;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!add_ini_line(line, file)) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("line {} is neither [section] nor key = value below one", number));
    }
  }
  return file;
}

}  // namespace outlast::cloud
