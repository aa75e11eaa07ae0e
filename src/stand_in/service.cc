#include "stand_in/service.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::stand_in {
namespace {

// Calls `take` for each piece between separators, empty ones too.
template <typename Take>
Result<void> for_each_piece(std::string_view text, char separator, Take take) {
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    OUTLAST_TRY(take(text.substr(0, end)));
    if (end == text.size()) return {};
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string Asked::below(std::size_t first) const {
  std::string joined;
  for (std::size_t i = first; i < parts.size(); ++i) {
    if (i > first) joined += '/';
    joined += parts[i];
  }
  return joined;
}

std::optional<std::string_view> Asked::header(std::string_view name) const {
  return sys::find_header(headers, name);
}

std::string Asked::parameter(std::string_view name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Result<Asked> take_apart(const sys::HttpServerRequest& request) {
  Asked asked = {.method = request.method, .headers = request.headers, .body = request.body};
  const std::string_view target = request.target;
  const std::size_t question = std::min(target.find('?'), target.size());
  asked.path = target.substr(0, question);
  asked.is_folder = asked.path.ends_with('/');
  OUTLAST_TRY(for_each_piece(asked.path, '/', [&](std::string_view piece) -> Result<void> {
    OUTLAST_TRY_ASSIGN(std::string part, cloud::percent_decode(piece));
    if (!part.empty()) asked.parts.push_back(std::move(part));
    return {};
  }));
  if (question == target.size()) return asked;
  OUTLAST_TRY(
      for_each_piece(target.substr(question + 1), '&', [&](std::string_view piece) -> Result<void> {
        const std::size_t equals = std::min(piece.find('='), piece.size());
        OUTLAST_TRY_ASSIGN(std::string name, cloud::percent_decode(piece.substr(0, equals)));
        OUTLAST_TRY_ASSIGN(std::string value,
                           cloud::percent_decode(piece.substr(std::min(equals + 1, piece.size()))));
        asked.query.insert_or_assign(std::move(name), std::move(value));
        return {};
      }));
  return asked;
}

Answer refuse(int status, std::string why, sys::HttpHeaders headers, std::string body) {
  return {.response = {.status = status, .headers = std::move(headers), .body = std::move(body)},
          .refusal = std::move(why)};
}

std::vector<std::string> names_in(const Values& values, std::string_view folder) {
  std::vector<std::string> names;
  for (auto it = values.lower_bound(folder); it != values.end() && it->first.starts_with(folder);
       ++it) {
    const std::string_view rest = std::string_view(it->first).substr(folder.size());
    std::string name(rest.substr(0, std::min(rest.find('/'), rest.size() - 1) + 1));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

std::string format_seconds(WallTime time) {
  constexpr std::size_t kToTheSecond = 19;
  return format_rfc3339(time).substr(0, kToTheSecond) + "Z";
}

}  // namespace outlast::stand_in
