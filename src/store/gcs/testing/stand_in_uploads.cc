#include "store/gcs/testing/stand_in_uploads.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/time.h"
#include "base/utf8.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "sys/http.h"

namespace outlast::store::gcs::testing {
namespace {

constexpr std::uint64_t kGranule = 256U << 10U;

bool is_object_name(std::string_view name) {
  if (name.empty() || name.size() > 1024 || name == "." || name == "..") return false;
  for (std::size_t at = 0; at < name.size();) {
    const auto character = decode_utf8(name, at);
    if (!character || character->code == U'\r' || character->code == U'\n') return false;
    at += character->bytes;
  }
  return true;
}

std::string member(const Json& object, std::string_view key) {
  return json_string(object, key).value_or("");
}

// The crc32c and md5 of an x-goog-hash header, as declarations.
void read_hash_header(const StandInRequest& request, StandInDeclaration& declaration) {
  for (const auto& header : request.headers) {
    const sys::HttpHeaders one = {header};
    const auto value = sys::find_header(one, "x-goog-hash");
    if (!value) continue;
    if (value->starts_with("crc32c=")) declaration.crc32c = value->substr(7);
    if (value->starts_with("md5=")) declaration.md5 = value->substr(4);
  }
}

std::optional<std::string> boundary_of(std::string_view content_type) {
  constexpr std::string_view kKind = "multipart/related";
  constexpr std::string_view kName = "boundary=";
  const std::size_t at = content_type.find(kName);
  if (!content_type.starts_with(kKind) || at == std::string_view::npos) return std::nullopt;
  std::string_view value = content_type.substr(at + kName.size());
  value = value.substr(0, value.find(';'));
  if (value.size() >= 2 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'')) {
    value = value.substr(1, value.size() - 2);
  }
  return value.empty() ? std::nullopt : std::optional(std::string(value));
}

struct Part {
  std::string_view headers = {};
  std::string_view content = {};
};

// The part that begins at `at`, which it moves behind the part's end.
std::optional<Part> next_part(std::string_view body, const std::string& delimiter,
                              std::size_t& at) {
  const std::size_t blank = body.find("\r\n\r\n", at);
  if (blank == std::string_view::npos) return std::nullopt;
  const std::size_t end = body.find("\r\n" + delimiter, blank + 2);
  if (end == std::string_view::npos) return std::nullopt;
  const Part part{.headers = body.substr(at, blank - at),
                  .content = end < blank + 4 ? "" : body.substr(blank + 4, end - blank - 4)};
  at = end + 2 + delimiter.size();
  return part;
}

std::string content_type_of(std::string_view headers) {
  constexpr std::string_view kName = "content-type:";
  for (std::size_t at = 0; at < headers.size();) {
    const std::size_t end = std::min(headers.find("\r\n", at), headers.size());
    const std::string line = ascii_lower(headers.substr(at, end - at));
    if (line.starts_with(kName)) {
      const std::size_t value = line.find_first_not_of(' ', kName.size());
      return value == std::string::npos ? "" : line.substr(value);
    }
    at = end + 2;
  }
  return "";
}

}  // namespace

std::variant<StandInDeclaration, StandInRefusal> read_declaration(const std::string& json,
                                                                  const std::string& query_name) {
  StandInDeclaration declaration{.name = query_name};
  if (!json.empty()) {
    const auto parsed = parse_json(json);
    if (!parsed || !parsed->is_object()) {
      return StandInRefusal{.reason = "parseError", .message = "Parse Error"};
    }
    const std::string name = member(*parsed, "name");
    if (!name.empty() && !query_name.empty() && name != query_name) {
      return StandInRefusal{.message = "Name in the query and in the metadata differ."};
    }
    if (!name.empty()) declaration.name = name;
    declaration.content_type = member(*parsed, "contentType");
    declaration.crc32c = member(*parsed, "crc32c");
    declaration.md5 = member(*parsed, "md5Hash");
    const auto metadata = parsed->find("metadata");
    if (metadata != parsed->end()) declaration.metadata_json = canonical_json(*metadata);
  }
  if (declaration.name.empty()) {
    return StandInRefusal{.reason = "required", .message = "Required"};
  }
  if (!is_object_name(declaration.name)) return StandInRefusal{.message = "Invalid object name."};
  return declaration;
}

std::optional<StandInParts> split_multipart(const std::string& content_type,
                                            const std::string& body) {
  const auto boundary = boundary_of(content_type);
  if (!boundary) return std::nullopt;
  const std::string delimiter = "--" + *boundary;
  std::size_t at = body.find(delimiter);
  if (at == std::string::npos || (at != 0 && !body.substr(0, at).ends_with("\r\n"))) {
    return std::nullopt;
  }
  at += delimiter.size();
  const auto metadata = next_part(body, delimiter, at);
  const auto content = metadata ? next_part(body, delimiter, at) : std::nullopt;
  if (!content || body.compare(at, 2, "--") != 0) return std::nullopt;
  if (!content_type_of(metadata->headers).starts_with("application/json")) return std::nullopt;
  return StandInParts{.json = std::string(metadata->content),
                      .content_type = content_type_of(content->headers),
                      .content = std::string(content->content)};
}

sys::HttpResponse insert_object(StandInBucket& bucket, const StandInDeclaration& declaration,
                                const StandInConditions& conditions, std::string content,
                                WallTime now) {
  const std::string crc = format_crc32c(crc32c(as_bytes(content)));
  if (!declaration.crc32c.empty() && declaration.crc32c != crc) {
    return refuse({.message = fmt::format("Provided CRC32C \"{}\" doesn't match calculated CRC32C "
                                          "\"{}\".",
                                          declaration.crc32c, crc)});
  }
  const std::string sum = base64_encode(md5(as_bytes(content)));
  if (!declaration.md5.empty() && declaration.md5 != sum) {
    return refuse({.message = fmt::format("Provided MD5 hash \"{}\" doesn't match calculated MD5 "
                                          "hash \"{}\".",
                                          declaration.md5, sum)});
  }
  if (!bucket.holds(declaration.name, conditions)) {
    return refuse({.status = 412,
                   .reason = "conditionNotMet",
                   .message = "At least one of the pre-conditions you specified did not hold."});
  }
  StandInObject object{.name = declaration.name,
                       .content = std::make_shared<const std::string>(std::move(content)),
                       .metadata_json = declaration.metadata_json};
  if (!declaration.content_type.empty()) object.content_type = declaration.content_type;
  return answer_json(200, bucket.insert(std::move(object), now).to_json());
}

// "bytes 0-9/20", "bytes 0-9/*", "bytes */20", "bytes */*"; without the header the whole rest.
std::optional<StandInSession::Range> StandInSession::parse_range(const std::string& header,
                                                                 std::uint64_t body_bytes) {
  if (header.empty()) {
    if (body_bytes == 0) return Range{.first = 0, .total = 0};
    return Range{.first = 0, .last = body_bytes - 1, .total = body_bytes};
  }
  std::string_view text = header;
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Range range;
  if (text.substr(slash + 1) != "*") {
    range.total = parse_number<std::uint64_t>(text.substr(slash + 1));
    if (!range.total) return std::nullopt;
  }
  const std::string_view span = text.substr(0, slash);
  if (span == "*") return range;
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  range.first = parse_number<std::uint64_t>(span.substr(0, dash));
  const auto last = parse_number<std::uint64_t>(span.substr(dash + 1));
  if (!range.first || !last || *last < *range.first) return std::nullopt;
  range.last = *last;
  return range;
}

std::optional<StandInRefusal> StandInSession::check(const Range& range,
                                                    const StandInRequest& request) const {
  const auto total = range.total ? range.total : start_.total;
  if (range.total && start_.total && *range.total != *start_.total) {
    return StandInRefusal{.message = "The total is not the one that was declared."};
  }
  const std::uint64_t bytes = request.body.size();
  if (!range.first) {
    if (bytes == 0) return std::nullopt;
    return StandInRefusal{.message = "A status request has no body."};
  }
  if (bytes == 0 && total == std::optional<std::uint64_t>(0)) return std::nullopt;
  if (bytes != range.last - *range.first + 1) {
    return StandInRefusal{.message = "Content-Range does not fit the length of the body."};
  }
  if (total && range.last >= *total) {
    return StandInRefusal{.message = "Content-Range goes past the total."};
  }
  const bool is_end = total && range.last + 1 == *total;
  if (!is_end && bytes % kGranule != 0) {
    return StandInRefusal{.message = "A chunk must be a multiple of 262144 bytes."};
  }
  if (*range.first > content_.size()) {
    return StandInRefusal{.message = "Content-Range leaves a gap."};
  }
  return std::nullopt;
}

sys::HttpResponse StandInSession::resume_incomplete() const {
  sys::HttpResponse answer{.status = 308};
  if (!content_.empty()) {
    answer.headers.emplace_back("Range", fmt::format("bytes=0-{}", content_.size() - 1));
  }
  return answer;
}

sys::HttpResponse StandInSession::finish(const StandInRequest& request, StandInBucket& bucket,
                                         WallTime now) {
  StandInDeclaration declaration = start_.declaration;
  read_hash_header(request, declaration);
  end_ = insert_object(bucket, declaration, start_.conditions, std::move(content_), now);
  content_.clear();
  return *end_;
}

sys::HttpResponse StandInSession::put(const StandInRequest& request, StandInBucket& bucket,
                                      WallTime now) {
  if (end_) return *end_;
  const auto range = parse_range(request.header("Content-Range"), request.body.size());
  if (!range) return refuse({.message = "Malformed Content-Range."});
  if (const auto refusal = check(*range, request)) return refuse(*refusal);
  const auto total = range->total ? range->total : start_.total;
  if (range->first) {
    // What is stored already is not looked at again.
    const std::uint64_t known = content_.size() - *range->first;
    if (known < request.body.size()) {
      std::string_view fresh = std::string_view(request.body).substr(known);
      const std::uint64_t most = start_.kept_per_request_max;
      if (most != 0 && fresh.size() > most) fresh = fresh.substr(0, most / kGranule * kGranule);
      content_ += fresh;
    }
  }
  // A question that knows the total ends an upload that has all its bytes.
  if (total && content_.size() == *total && (range->first || range->total)) {
    return finish(request, bucket, now);
  }
  return resume_incomplete();
}

sys::HttpResponse StandInSession::cancel() {
  if (end_ && end_->status == 200) return refuse({.status = 404, .reason = "notFound"});
  content_.clear();
  end_ = refuse({.status = 410, .reason = "gone", .message = "The upload was cancelled."});
  return {.status = 499};
}

}  // namespace outlast::store::gcs::testing
