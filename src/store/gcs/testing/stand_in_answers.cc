#include "store/gcs/testing/stand_in_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/json.h"
#include "base/numbers.h"
#include "cloud/http_date.h"
#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "sys/http.h"

namespace outlast::store::gcs::testing {
namespace {

struct Span {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// "bytes=2-5", "bytes=2-", "bytes=-3"; nullopt for what HTTP wants ignored. A first that is past
// the end is left to the caller.
std::optional<Span> parse_span(std::string_view header, std::uint64_t size) {
  if (!header.starts_with("bytes=")) return std::nullopt;
  header.remove_prefix(6);
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto last = parse_number<std::uint64_t>(header.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    return Span{.first = *last == 0 ? size : size - std::min(*last, size), .last = size - 1};
  }
  const auto first = parse_number<std::uint64_t>(header.substr(0, dash));
  if (!first || (!last && dash + 1 != header.size()) || (last && *last < *first)) {
    return std::nullopt;
  }
  return Span{.first = *first, .last = std::min(last.value_or(size - 1), size - 1)};
}

}  // namespace

sys::HttpResponse refuse_parameter(const std::string& name) {
  return refuse({.message = fmt::format("Unknown parameter: {}", name)});
}

sys::HttpResponse media(const StandInObject& object, const StandInRequest& request) {
  sys::HttpResponse answer{
      .status = 200,
      .headers = {{"Content-Type", object.content_type},
                  {"Accept-Ranges", "bytes"},
                  {"ETag", base64_encode(as_bytes(std::to_string(object.generation)))},
                  {"Last-Modified", cloud::format_http_date(object.updated)},
                  {"x-goog-generation", std::to_string(object.generation)},
                  {"x-goog-metageneration", "1"},
                  {"x-goog-hash", "crc32c=" + object.crc32c},
                  {"x-goog-hash", "md5=" + object.md5},
                  {"x-goog-stored-content-encoding", "identity"},
                  {"x-goog-stored-content-length", std::to_string(object.content->size())}}};
  const std::uint64_t size = object.content->size();
  const auto span = parse_span(request.header("Range"), size);
  if (!span) {
    answer.body = *object.content;
    return answer;
  }
  if (span->first >= size) {
    sys::HttpResponse refusal = refuse({.status = 416,
                                        .reason = "requestedRangeNotSatisfiable",
                                        .message = "Request range not satisfiable"});
    refusal.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return refusal;
  }
  answer.status = 206;
  answer.headers.emplace_back("Content-Range",
                              fmt::format("bytes {}-{}/{}", span->first, span->last, size));
  answer.body = object.content->substr(span->first, span->last - span->first + 1);
  return answer;
}

sys::HttpResponse listing(const StandInRequest& request, const StandInBucket& bucket) {
  if (const auto parameter =
          request.unknown_parameter({"delimiter", "endOffset", "maxResults", "pageToken", "prefix",
                                     "startOffset", "versions", "includeTrailingDelimiter"})) {
    return refuse_parameter(*parameter);
  }
  for (const char* flag : {"versions", "includeTrailingDelimiter"}) {
    if (request.has(flag) && request.parameter(flag) != "false") return refuse_parameter(flag);
  }
  StandInListing::Query query{.prefix = request.parameter("prefix"),
                              .delimiter = request.parameter("delimiter"),
                              .start_offset = request.parameter("startOffset"),
                              .end_offset = request.parameter("endOffset"),
                              .page_token = request.parameter("pageToken")};
  if (request.has("maxResults")) {
    const auto most = parse_number<std::uint64_t>(request.parameter("maxResults"));
    if (!most || *most == 0) return refuse({.message = "Invalid value for maxResults."});
    query.page_max = std::min<std::uint64_t>(*most, 1000);
  }
  const auto page = bucket.list(query);
  if (!page) return refuse({.message = "Invalid pageToken."});
  // By hand: a thousand objects are not worth parsing again.
  std::string items;
  for (const StandInObject& object : page->items) {
    items += (items.empty() ? "" : ",") + object.to_json();
  }
  std::string json = R"({"kind":"storage#objects")";
  if (!items.empty()) json += R"(,"items":[)" + items + "]";
  if (!page->prefixes.empty()) json += R"(,"prefixes":)" + canonical_json(page->prefixes);
  if (!page->next_page_token.empty()) {
    json += R"(,"nextPageToken":)" + canonical_json(page->next_page_token);
  }
  return answer_json(200, json + "}");
}

}  // namespace outlast::store::gcs::testing
