#include "store/gcs/gcs_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cloud/http_date.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

constexpr std::size_t kMessageBytesMax = 300;

Error corrupt(std::string sentence) {
  return {ErrorCode::kCorrupt, std::move(sentence)};
}

// Google writes 64-bit numbers as strings; some servers that imitate it as numbers.
std::optional<std::uint64_t> number_of(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_string()) return parse_number<std::uint64_t>(found->get_ref<const std::string&>());
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  return std::nullopt;
}

std::string text_of(const Json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Servers that imitate Google's may leave a size of 0 out. The checksums then tell that it is one.
std::optional<std::uint64_t> size_of(const Json& json) {
  if (json.contains("size")) return number_of(json, "size");
  constexpr std::string_view kMd5OfNothing = "1B2M2Y8AsgTpgAmY7PhCfg==";
  const bool is_empty =
      text_of(json, "md5Hash") == kMd5OfNothing || parse_crc32c(text_of(json, "crc32c")) == 0U;
  return is_empty ? std::optional<std::uint64_t>(0) : std::nullopt;
}

Result<ObjectInfo> object_of(const Json& json) {
  if (!json.is_object()) return corrupt("the answer's object is no JSON object");
  ObjectInfo info;
  OUTLAST_TRY_ASSIGN(info.key, json_string(json, "name"));
  const auto size = size_of(json);
  if (!size) return corrupt(fmt::format("the answer has no size of '{}'", info.key));
  info.size = *size;
  const auto generation = number_of(json, "generation");
  if (!generation) return corrupt(fmt::format("the answer has no generation of '{}'", info.key));
  info.version = std::to_string(*generation);
  info.crc32c = parse_crc32c(text_of(json, "crc32c"));
  if (const auto updated = parse_rfc3339(text_of(json, "updated"))) info.modified = *updated;
  return info;
}

// One line of at most kMessageBytesMax bytes, cut between characters.
std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size() && line.size() < kMessageBytesMax;) {
    const auto character = decode_utf8(text, at);
    const std::size_t bytes = character ? character->bytes : 1;
    const bool blank = !character || character->code <= 0x20 ||
                       (character->code >= 0x7f && character->code < 0xa0);
    if (!blank) {
      line += text.substr(at, bytes);
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
    at += bytes;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

// A web page without its tags: what a proxy or a load balancer says in Google's place.
std::string without_tags(std::string_view page) {
  std::string text;
  bool in_tag = false;
  for (const char c : page.substr(0, std::size_t{64} << 10U)) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c;
    if (c == '>') {
      in_tag = false;
      text += ' ';
    }
  }
  return text;
}

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t total = 0;
};

// "bytes 5-9/20".
std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
    return std::nullopt;
  }
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  const auto last = parse_number<std::uint64_t>(text.substr(dash + 1, slash - dash - 1));
  const auto total = parse_number<std::uint64_t>(text.substr(slash + 1));
  if (!first || !last || !total || *first > *last || *last >= *total) return std::nullopt;
  return ContentRange{.first = *first, .total = *total};
}

// Google sends "x-goog-hash: crc32c=…" and "x-goog-hash: md5=…"; what lies between may join them
// with commas.
std::optional<std::uint32_t> crc32c_header(const sys::HttpHeaders& headers) {
  constexpr std::string_view kName = "crc32c=";
  for (const auto& header : headers) {
    const sys::HttpHeaders one = {header};
    const auto value = sys::find_header(one, "x-goog-hash");
    if (!value) continue;
    std::size_t at = value->find(kName);
    if (at == std::string_view::npos) continue;
    at += kName.size();
    const std::size_t end = std::min(value->find_first_of(", ", at), value->size());
    if (const auto crc32c = parse_crc32c(value->substr(at, end - at))) return crc32c;
  }
  return std::nullopt;
}

}  // namespace

Result<ObjectInfo> read_object(std::string_view json) {
  OUTLAST_TRY_ASSIGN(const Json object, parse_json(json));
  return object_of(object);
}

Result<ListPage> read_list(std::string_view json) {
  OUTLAST_TRY_ASSIGN(const Json answer, parse_json(json));
  if (!answer.is_object()) return corrupt("the listing is no JSON object");
  ListPage page;
  if (const auto items = answer.find("items"); items != answer.end() && !items->is_null()) {
    if (!items->is_array()) return corrupt("the listing's items are no list");
    page.objects.reserve(items->size());
    for (const Json& item : *items) {
      OUTLAST_TRY_ASSIGN(ObjectInfo info, object_of(item));
      page.objects.push_back(std::move(info));
    }
  }
  if (const auto folders = answer.find("prefixes");
      folders != answer.end() && !folders->is_null()) {
    if (!folders->is_array()) return corrupt("the listing's prefixes are no list");
    for (const Json& folder : *folders) {
      if (!folder.is_string()) return corrupt("a prefix in the listing is no text");
      page.folders.push_back(folder.get<std::string>());
    }
  }
  page.next = text_of(answer, "nextPageToken");
  return page;
}

Refusal read_refusal(std::string_view body) {
  const auto json = parse_json(body);
  if (!json || !json->is_object()) return {.message = one_line(without_tags(body))};
  const auto error = json->find("error");
  if (error == json->end()) return {.message = one_line(text_of(*json, "message"))};
  // What the token service says: {"error": "invalid_grant", "error_description": "…"}.
  if (error->is_string()) {
    return {.reason = one_line(error->get<std::string>()),
            .message = one_line(text_of(*json, "error_description"))};
  }
  Refusal refusal{.message = one_line(text_of(*error, "message"))};
  if (!error->is_object()) return refusal;
  const auto details = error->find("errors");
  if (details != error->end() && details->is_array() && !details->empty()) {
    refusal.reason = one_line(text_of(details->front(), "reason"));
  }
  return refusal;
}

Result<ReadHeaders> read_headers(const sys::HttpResponse& answer) {
  ReadHeaders read;
  read.generation = sys::find_header(answer.headers, "x-goog-generation").value_or("");
  read.crc32c = crc32c_header(answer.headers);
  const auto modified = sys::find_header(answer.headers, "Last-Modified");
  if (const auto time = cloud::parse_http_date(modified.value_or(""))) read.modified = *time;
  if (answer.status == 206) {
    const auto text = sys::find_header(answer.headers, "Content-Range");
    const auto range = parse_content_range(text.value_or(""));
    if (!range) return corrupt("the answer does not say which part of the object it is");
    read.offset = range->first;
    read.size = range->total;
    return read;
  }
  for (const std::string_view name : {"x-goog-stored-content-length", "Content-Length"}) {
    const auto size =
        parse_number<std::uint64_t>(sys::find_header(answer.headers, name).value_or(""));
    if (!size) continue;
    read.size = *size;
    return read;
  }
  return corrupt("the answer does not say how large the object is");
}

Result<std::uint64_t> read_stored_bytes(const sys::HttpResponse& answer) {
  const auto range = sys::find_header(answer.headers, "Range");
  if (!range) return 0;
  // "bytes=0-LAST"; without the unit from some servers that imitate Google's.
  std::string_view text = *range;
  constexpr std::string_view kUnit = "bytes=";
  if (text.starts_with(kUnit)) text.remove_prefix(kUnit.size());
  const auto last =
      text.starts_with("0-") ? parse_number<std::uint64_t>(text.substr(2)) : std::nullopt;
  if (!last || *last == std::numeric_limits<std::uint64_t>::max()) {
    return corrupt(fmt::format("'{}' does not say how much of the upload is stored",
                               one_line(range->substr(0, 80))));
  }
  return *last + 1;
}

std::string format_crc32c(std::uint32_t crc32c) {
  const std::array<std::byte, 4> bytes = {
      static_cast<std::byte>(crc32c >> 24U), static_cast<std::byte>(crc32c >> 16U),
      static_cast<std::byte>(crc32c >> 8U), static_cast<std::byte>(crc32c)};
  return base64_encode(bytes);
}

std::optional<std::uint32_t> parse_crc32c(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != 4) return std::nullopt;
  std::uint32_t crc32c = 0;
  for (const std::byte byte : *bytes) crc32c = crc32c << 8U | std::to_integer<std::uint32_t>(byte);
  return crc32c;
}

bool is_generation(std::string_view text) {
  const auto value = parse_number<std::uint64_t>(text);
  return value && *value != 0 && !text.starts_with('0') &&
         *value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

}  // namespace outlast::store::gcs
