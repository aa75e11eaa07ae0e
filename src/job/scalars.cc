#include "job/scalars.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "job/money.h"
#include "job/place.h"
#include "job/progress_reader.h"
#include "job/root_url.h"
#include "job/rules.h"
#include "job/work_path.h"

namespace outlast::job {
namespace {

constexpr std::size_t kNameLengthMax = 63;
constexpr std::uint64_t kDiskMin = std::uint64_t{1} << 30U;
constexpr std::uint64_t kDiskMax = std::uint64_t{1} << 50U;

// Which ASCII characters something may be made of: letters, digits and these.
struct Spelling {
  std::string_view start = {};   // besides letters and digits, as the first character
  std::string_view inside = {};  // the same for the others
  bool upper_case = true;
  bool digit_first = true;
};
constexpr Spelling kNameSpelling = {.start = "", .inside = "-_.", .upper_case = false};
constexpr Spelling kTokenSpelling = {.start = "_/.", .inside = "_/.:@+=~^-"};
constexpr Spelling kConstraintSpelling = {.start = "_([", .inside = "_.:&|*,()[]!@-"};
constexpr Spelling kVariableSpelling = {.start = "_", .inside = "_", .digit_first = false};
constexpr Spelling kUserSpelling = {.start = "_", .inside = "_.-"};
constexpr Spelling kHostSpelling = {.start = ":", .inside = ".:-_"};

tl::unexpected<std::string> reason(std::string why = {}) {
  return tl::unexpected(std::move(why));
}

bool in_spelling(char c, const Spelling& spelling, bool first) {
  if (c >= 'a' && c <= 'z') return true;
  if (c >= 'A' && c <= 'Z') return spelling.upper_case;
  if (c >= '0' && c <= '9') return !first || spelling.digit_first;
  return (first ? spelling.start : spelling.inside).find(c) != std::string_view::npos;
}

ScalarReading spelled(std::string_view text, const Spelling& spelling) {
  if (text.empty()) return reason("it is empty");
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_spelling(text[i], spelling, i == 0)) continue;
    const std::size_t bytes = decode_utf8(text, i).value_or(Utf8Character{}).bytes;
    return reason(fmt::format("it cannot {} {}", i == 0 ? "start with" : "contain",
                              quote_for_message(text.substr(i, bytes))));
  }
  return std::string(text);
}

ScalarReading with_reason(Result<std::string> result) {
  if (!result) return reason(result.error().sentence());
  return *std::move(result);
}

bool has_space_or_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) return true;
  }
  return false;
}

// What follows "scheme://" up to the path.
std::string_view authority(std::string_view url) {
  const std::string_view rest = url.substr(url.find("://") + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

}  // namespace

ScalarReading read_name(std::string_view text) {
  if (text.size() > kNameLengthMax) {
    return reason(fmt::format("it is longer than {} characters", kNameLengthMax));
  }
  ScalarReading name = spelled(text, kNameSpelling);
  if (name && !in_spelling(name->back(), kNameSpelling, true)) {
    return reason("it must end with a letter or digit");
  }
  return name;
}

ScalarReading read_root(std::string_view text) {
  return with_reason(canonical_root(text));
}

ScalarReading read_command(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return reason("it has a NUL character");
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return reason("it is empty");
  return std::string(text.substr(0, last + 1));
}

ScalarReading read_env_name(std::string_view text) {
  if (text.starts_with("OUTLAST_")) return reason("names with OUTLAST_ are set by outlast itself");
  return spelled(text, kVariableSpelling);
}

ScalarReading read_env_value(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return reason("it has a NUL character");
  return std::string(text);
}

ScalarReading read_file(std::string_view text) {
  return with_reason(canonical_file(text));
}

ScalarReading read_cache(std::string_view text) {
  return with_reason(canonical_cache(text));
}

ScalarReading read_checkpoint_dir(std::string_view text) {
  return with_reason(canonical_checkpoint_dir(text));
}

// For these three the parser's sentence only repeats what is expected, unless the text parsed and
// was out of range.
ScalarReading read_span(std::string_view text) {
  const auto span = parse_span(text);
  if (span) return format_duration(*span);
  return parse_duration(text) ? reason(span.error().sentence()) : reason();
}

ScalarReading read_every(std::string_view text) {
  const auto every = parse_every(text);
  if (every) return format_every(*every);
  return parse_duration(text) ? reason(every.error().sentence()) : reason();
}

ScalarReading read_on_failed(std::string_view text) {
  const auto rule = parse_on_failed(text);
  if (rule) return format_on_failed(*rule);
  const bool out_of_range = text.starts_with("keep ") && parse_duration(text.substr(5));
  return out_of_range ? reason(rule.error().sentence()) : reason();
}

ScalarReading read_progress_regex(std::string_view text) {
  const auto pattern = compile_progress_regex(text);
  if (!pattern) return reason(pattern.error().sentence());
  return std::string(text);
}

ScalarReading read_money(std::string_view text) {
  const auto money = parse_money(text);
  if (!money) return reason(money.error().sentence());
  if (money->micro_usd == 0) return reason("it must be more than nothing");
  return format_money(*money);
}

ScalarReading read_disk(std::string_view text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) return reason();
  if (*bytes < kDiskMin || *bytes > kDiskMax) return reason("it must be from 1GiB to 1PiB");
  return format_disk(*bytes);
}

ScalarReading read_git_url(std::string_view text) {
  if (has_space_or_control(text)) return reason("it has a space or a control character");
  for (const std::string_view scheme : {"https://", "http://", "ssh://", "git://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view server = authority(text);
    const std::size_t user_end = server.find('@');
    if (server.empty() || user_end == 0 || server.ends_with('@')) return reason();
    if (user_end != std::string_view::npos && server.substr(0, user_end).find(':') != server.npos) {
      return reason("it holds a password, which would be stored with the job");
    }
    return std::string(text);
  }
  // The short form user@host:path.
  const std::size_t at = text.find('@');
  const std::size_t colon = text.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || at > colon)
    return reason();
  if (!read_user(text.substr(0, at)) || !read_host(text.substr(at + 1, colon - at - 1)) ||
      colon + 1 == text.size()) {
    return reason();
  }
  return std::string(text);
}

ScalarReading read_git_revision(std::string_view text) {
  if (text.find("..") != std::string_view::npos) return reason("it is a range");
  return read_token(text);
}

ScalarReading read_container(std::string_view text) {
  if (text.find("://") != std::string_view::npos)
    return reason("leave out what is before the '://'");
  return read_token(text);
}

ScalarReading read_webhook(std::string_view text) {
  if (has_space_or_control(text)) return reason("it has a space or a control character");
  if (!text.starts_with("https://") && !text.starts_with("http://")) return reason();
  if (authority(text).empty()) return reason("the host is missing");
  return std::string(text);
}

ScalarReading read_host(std::string_view text) {
  if (text.find('@') != std::string_view::npos) return reason("give the user under 'user'");
  return spelled(text, kHostSpelling);
}

ScalarReading read_user(std::string_view text) {
  return spelled(text, kUserSpelling);
}

ScalarReading read_token(std::string_view text) {
  return spelled(text, kTokenSpelling);
}

ScalarReading read_constraint(std::string_view text) {
  return spelled(text, kConstraintSpelling);
}

}  // namespace outlast::job
