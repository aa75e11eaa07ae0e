#include "sys/http.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"

namespace outlast::sys {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower_char, ascii_lower_char);
}

bool is_token_char(char c) {
  const char l = ascii_lower_char(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

// A header's value may hold any byte but control characters: a line break would begin a header that
// nobody meant.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool may_stand_in_url(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f &&
         std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

bool is_authority_char(char c) {
  const char l = ascii_lower_char(c);
  return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~:[]%").find(c) != std::string_view::npos;
}

// "host", "host:port", "[v6]" or "[v6]:port".
bool is_authority(std::string_view text) {
  if (!std::ranges::all_of(text, is_authority_char)) return false;
  std::string_view host = text;
  std::string_view port;
  const std::size_t bracket = text.find(']');
  if (text.starts_with('[')) {
    if (bracket == std::string_view::npos) return false;
    host = text.substr(1, bracket - 1);
    port = text.substr(bracket + 1);
  } else {
    host = text.substr(0, text.find(':'));
    port = text.substr(host.size());
    if (host.find_first_of("[]") != std::string_view::npos) return false;
  }
  if (host.empty()) return false;
  if (port.empty()) return true;
  return port.starts_with(':') && parse_number<std::uint16_t>(port.substr(1)).value_or(0) > 0;
}

Error invalid_request(const HttpRequest& request, const std::string& why) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} cannot be requested: {}", without_query(request.url), why)};
}

}  // namespace

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (!equal_ignoring_case(key, name)) continue;
    std::string_view trimmed = value;
    while (!trimmed.empty() && (trimmed.front() == ' ' || trimmed.front() == '\t')) {
      trimmed.remove_prefix(1);
    }
    while (!trimmed.empty() && (trimmed.back() == ' ' || trimmed.back() == '\t')) {
      trimmed.remove_suffix(1);
    }
    return trimmed;
  }
  return std::nullopt;
}

std::string_view without_query(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

Result<HttpUrl> parse_http_url(std::string_view url) {
  const auto refuse = [url](std::string_view why) {
    // What stands before an @ may be a password.
    const std::string_view shown = without_query(url);
    const std::size_t at = shown.rfind('@');
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a URL that can be requested: {}",
                             at == std::string_view::npos ? shown : shown.substr(at + 1), why));
  };
  HttpUrl parts;
  const std::size_t colon = url.find("://");
  if (colon != std::string_view::npos) parts.scheme = url.substr(0, colon);
  parts.scheme = ascii_lower(parts.scheme);
  if (parts.scheme != "http" && parts.scheme != "https") {
    return refuse("it must begin with http:// or https://");
  }
  const std::string_view rest = url.substr(colon + 3);
  parts.authority = rest.substr(0, rest.find_first_of("/?#"));
  if (parts.authority.find('@') != std::string::npos) {
    return refuse("a user or password may not stand in it");
  }
  if (!is_authority(parts.authority)) return refuse("its host or port is malformed");
  const std::string_view target = rest.substr(parts.authority.size());
  if (target.find('#') != std::string_view::npos) return refuse("write # as %23");
  if (!std::ranges::all_of(target, may_stand_in_url)) {
    return refuse("characters other than plain ASCII must be percent-encoded");
  }
  parts.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  return parts;
}

bool declares_more_than_it_has(const HttpResponse& answer) {
  const auto declared =
      parse_number<std::uint64_t>(find_header(answer.headers, "Content-Length").value_or(""));
  return declared && *declared > answer.body.size();
}

std::uint64_t body_size(const HttpRequest& request) {
  return request.streamed_body != nullptr ? request.streamed_body->size() : request.body.size();
}

Result<HttpUrl> check_http_request(const HttpRequest& request) {
  OUTLAST_TRY_ASSIGN(HttpUrl url, parse_http_url(request.url));
  if (!is_token(request.method)) return invalid_request(request, "its method is malformed");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name)) return invalid_request(request, "a header's name is malformed");
    if (std::ranges::any_of(value, is_control)) {
      return invalid_request(request,
                             fmt::format("the header {} has a control character in it", name));
    }
    if (equal_ignoring_case(name, "Transfer-Encoding")) {
      return invalid_request(request, "bodies are sent with their length, not in chunks");
    }
    if (equal_ignoring_case(name, "Content-Length") &&
        value != std::to_string(body_size(request))) {
      return invalid_request(request, "its Content-Length is not its body's");
    }
  }
  return url;
}

}  // namespace outlast::sys
