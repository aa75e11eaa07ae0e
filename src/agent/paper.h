#pragma once

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

// What the texts of an attempt are made of. Part of them; not for use elsewhere.
namespace outlast::agent {

// The same for all: an attempt is written by one outlast.
inline constexpr std::uint64_t kPaperFormat = 1;

// Canonical JSON in which every key, too, is UTF-8; of two keys that become equal one is kept.
std::string paper_text(const Json& json);

struct PaperKind {
  std::string_view name = {};  // "the beat", for errors
  std::size_t bytes_max = 0;
};
// An object of a format that is known. Otherwise kCorrupt, or kInvalidArgument if it is newer.
Result<Json> open_paper(std::string_view text, const PaperKind& kind);
// An error about what is inside, as kCorrupt.
Error bad_paper(const PaperKind& kind, const Error& why);

// RFC 3339, whole milliseconds; a time that it cannot hold becomes the nearest that it can.
std::string paper_time(WallTime time);
// Seconds.
double paper_duration(Duration duration);

Result<WallTime> json_time(const Json& object, std::string_view key);
Result<Duration> json_duration(const Json& object, std::string_view key);
Result<std::optional<std::uint64_t>> json_optional_uint(const Json& object, std::string_view key);
// kCorrupt if it is there and no object; nullptr if it is not there.
Result<const Json*> json_optional_object(const Json& object, std::string_view key);

// The words for the values of an enumeration.
template <typename Enum>
struct PaperWord {
  Enum value = {};
  std::string_view word = {};
};

template <typename Enum, std::size_t Count>
std::string_view word_for(const std::array<PaperWord<Enum>, Count>& words, Enum value) {
  for (const PaperWord<Enum>& one : words) {
    if (one.value == value) return one.word;
  }
  return "unknown";
}

template <typename Enum, std::size_t Count>
Result<Enum> json_word(const Json& object, std::string_view key,
                       const std::array<PaperWord<Enum>, Count>& words) {
  OUTLAST_TRY_ASSIGN(const std::string word, json_string(object, key));
  for (const PaperWord<Enum>& one : words) {
    if (one.word == word) return one.value;
  }
  return Error(ErrorCode::kCorrupt,
               fmt::format("'{}' cannot be '{}'", key, std::string_view(word).substr(0, 80)));
}

}  // namespace outlast::agent
