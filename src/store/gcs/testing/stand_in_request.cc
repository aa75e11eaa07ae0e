#include "store/gcs/testing/stand_in_request.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::store::gcs::testing {
namespace {

// Google reads a form: '+' is a blank.
std::optional<std::string> decode_form(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  const auto decoded = cloud::percent_decode(blanks);
  return decoded ? std::optional(*decoded) : std::nullopt;
}

bool add_parameter(std::string_view pair, StandInRequest& request) {
  if (pair.empty()) return true;
  const std::size_t equals = std::min(pair.find('='), pair.size());
  const auto name = decode_form(pair.substr(0, equals));
  const auto value = decode_form(equals < pair.size() ? pair.substr(equals + 1) : "");
  return name && value && request.query.emplace(*name, *value).second;
}

template <typename Take>
bool for_each_piece(std::string_view text, char separator, Take take) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (!take(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

std::string StandInRequest::header(std::string_view name) const {
  return std::string(sys::find_header(headers, name).value_or(""));
}

std::string StandInRequest::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

std::optional<std::string> StandInRequest::unknown_parameter(
    std::initializer_list<std::string_view> known) const {
  constexpr std::array<std::string_view, 8> kEverywhere = {
      "alt", "fields", "key", "prettyPrint", "projection", "quotaUser", "userIp", "userProject"};
  for (const auto& [name, value] : query) {
    if (std::ranges::find(known, name) == known.end() &&
        std::ranges::find(kEverywhere, name) == kEverywhere.end()) {
      return name;
    }
  }
  return std::nullopt;
}

bool StandInRequest::path_is(std::initializer_list<std::string_view> pattern) const {
  return std::ranges::equal(path, pattern, [](const std::string& segment, std::string_view wanted) {
    return wanted == "*" ? !segment.empty() : segment == wanted;
  });
}

std::optional<StandInRequest> take_apart(const sys::HttpServerRequest& request) {
  StandInRequest taken{.method = request.method, .headers = request.headers, .body = request.body};
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with('/')) return std::nullopt;
  const bool path_is_good = for_each_piece(path.substr(1), '/', [&](std::string_view segment) {
    const auto decoded = cloud::percent_decode(segment);
    if (decoded) taken.path.push_back(*decoded);
    return decoded.has_value();
  });
  if (!path_is_good) return std::nullopt;
  if (path.size() == target.size()) return taken;
  const bool query_is_good =
      for_each_piece(target.substr(path.size() + 1), '&',
                     [&](std::string_view pair) { return add_parameter(pair, taken); });
  return query_is_good ? std::optional(std::move(taken)) : std::nullopt;
}

sys::HttpResponse answer_json(int status, std::string json) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json; charset=UTF-8"}},
          .body = std::move(json)};
}

sys::HttpResponse refuse(const StandInRefusal& refusal) {
  const Json detail = {
      {"domain", "global"}, {"reason", refusal.reason}, {"message", refusal.message}};
  const Json error = {
      {"code", refusal.status}, {"message", refusal.message}, {"errors", Json::array({detail})}};
  return answer_json(refusal.status, canonical_json(Json{{"error", error}}));
}

}  // namespace outlast::store::gcs::testing
