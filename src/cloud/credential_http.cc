#include "cloud/credential_http.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "cloud/xml.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kIssuerAnswerBytesMax = 1U << 20U;
constexpr Duration kIssuerPause = std::chrono::milliseconds(200);
constexpr std::size_t kWordsMax = 300;
// A hundred years: what is longer is nonsense, and would overflow.
constexpr std::int64_t kLifetimeSecondsMax = 3'155'760'000;

bool should_repeat(const IssuerCall& call, const Result<sys::HttpResponse>& answer) {
  if (!answer) {
    const ErrorCode code = answer.error().code();
    return code == ErrorCode::kUnavailable || code == ErrorCode::kUnknownOutcome;
  }
  const int status = answer->status;
  return status == 429 || status >= 500 ||
         std::find(call.also_repeat.begin(), call.also_repeat.end(), status) !=
             call.also_repeat.end();
}

Error issuer_trouble(const IssuerCall& call, std::string_view what) {
  return {ErrorCode::kFailed,
          fmt::format("{} {}: {}", call.method, url_for_people(call.url), what)};
}

std::string_view text_or_nothing(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

// What the three clouds say why: {"error": "code", "error_description": "words"}, Google's
// {"error": {"status", "message"}}, AWS's {"code"|"Code", "message"} and its XML.
std::string raw_words(std::string_view body) {
  const auto join = [](std::string_view code, std::string_view words) {
    return code.empty() || words.empty() ? fmt::format("{}{}", code, words)
                                         : fmt::format("{}: {}", code, words);
  };
  if (const Result<Json> json = parse_json(body); json && json->is_object()) {
    const auto inner = json->find("error");
    if (inner != json->end() && inner->is_object()) {
      return join(text_or_nothing(*inner, "status"), text_or_nothing(*inner, "message"));
    }
    for (const auto& [code, words] :
         {std::pair("error", "error_description"), {"code", "message"}, {"Code", "Message"}}) {
      const std::string found = join(text_or_nothing(*json, code), text_or_nothing(*json, words));
      if (!found.empty()) return found;
    }
    return "";
  }
  if (const Result<XmlElement> xml = parse_xml(body)) {
    const XmlElement* error = xml->name == "Error" ? &*xml : xml->child("Error");
    if (error != nullptr) return join(error->child_text("Code"), error->child_text("Message"));
  }
  return "";
}

void blot_out(std::string& text, std::string_view secret) {
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "[secret]");
    at += std::string_view("[secret]").size();
  }
}

// One printable line of bounded length.
std::string tame(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size() && line.size() < kWordsMax;) {
    const std::optional<Utf8Character> character = decode_utf8(text, at);
    const std::size_t bytes = character ? character->bytes : 1;
    const bool printable = character && character->code >= 0x20 && character->code != 0x7F;
    line += printable ? text.substr(at, bytes) : std::string_view(" ");
    at += bytes;
  }
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  return line;
}

}  // namespace

IssuerCall form_call(std::string url, const Query& form) {
  return {.method = "POST",
          .url = std::move(url),
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                      {"Accept", "application/json"}},
          .body = Secret(encode_query(form))};
}

Result<sys::HttpResponse> ask_issuer(sys::HttpClient& http, sys::Clock& clock,
                                     const IssuerCall& call, const sys::CallContext& ctx) {
  const sys::HttpRequest request = {.method = call.method,
                                    .url = call.url,
                                    .headers = call.headers,
                                    .body = as_bytes(call.body.reveal()),
                                    .gathered_bytes_max = kIssuerAnswerBytesMax,
                                    .direct = call.direct,
                                    .connect_timeout = call.connect_timeout,
                                    .stall_timeout = call.stall_timeout};
  Duration pause = kIssuerPause;
  for (int attempt = 1;; ++attempt) {
    Result<sys::HttpResponse> answer = http.send(request, ctx);
    if (!should_repeat(call, answer) || attempt >= call.attempts_max) return answer;
    OUTLAST_TRY(clock.sleep_for(pause, ctx));
    pause *= 2;
  }
}

Error issuer_refusal(const IssuerCall& call, const sys::HttpResponse& answer,
                     std::initializer_list<std::string_view> secrets, std::string_view advice) {
  std::string words = raw_words(answer.body);
  for (const std::string_view secret : secrets) {
    if (secret.empty()) continue;
    blot_out(words, secret);
    blot_out(words, percent_encode(secret));
  }
  words = tame(words);
  ErrorCode code = ErrorCode::kPermissionDenied;
  if (answer.status == 429) code = ErrorCode::kThrottled;
  if (answer.status >= 500) code = ErrorCode::kUnavailable;
  if (answer.status < 400) code = ErrorCode::kFailed;
  return {code, fmt::format("{} {} was answered with {}{}{}{}{}{}", call.method,
                            url_for_people(call.url), answer.status, words.empty() ? "" : " (",
                            words, words.empty() ? "" : ")", advice.empty() ? "" : ": ", advice)};
}

Result<Json> issuer_json(const IssuerCall& call, const sys::HttpResponse& answer) {
  // The parser's own error quotes the document, which holds credentials.
  Result<Json> json = parse_json(answer.body);
  if (!json || !json->is_object()) {
    return issuer_trouble(call,
                          "the answer is not a JSON object; a proxy or a login page may stand in "
                          "between: check the address and the proxy settings");
  }
  return json;
}

Result<std::string> issuer_text(const IssuerCall& call, const Json& object, std::string_view key) {
  const std::string_view text = text_or_nothing(object, key);
  if (!text.empty()) return std::string(text);
  return issuer_trouble(call,
                        fmt::format("the answer has no '{}'; is this the right service?", key));
}

Result<Duration> issuer_seconds(const IssuerCall& call, const Json& object, std::string_view key) {
  const auto found = object.find(key);
  std::int64_t seconds = 0;
  if (found != object.end() && found->is_number()) {
    seconds = static_cast<std::int64_t>(
        std::clamp(found->get<double>(), 0.0, static_cast<double>(kLifetimeSecondsMax)));
  } else if (found != object.end() && found->is_string()) {
    seconds = parse_number<std::int64_t>(found->get_ref<const std::string&>()).value_or(0);
  }
  if (seconds > 0) return Duration(std::chrono::seconds(std::min(seconds, kLifetimeSecondsMax)));
  return issuer_trouble(call, fmt::format("the answer has no positive '{}' in seconds", key));
}

Result<Duration> lifetime_until(WallTime expiration, const sys::HttpHeaders& answer,
                                sys::Clock& clock) {
  WallTime now = clock.wall_now();
  if (const std::optional<std::string_view> date = sys::find_header(answer, "Date")) {
    if (const Result<WallTime> theirs = parse_http_date(*date)) now = *theirs;
  }
  if (expiration <= now) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("the credentials that came expired at {}, which is past: look at the "
                             "clock of this machine",
                             format_rfc3339(expiration)));
  }
  return expiration - now;
}

Result<Duration> lifetime_until(std::string_view rfc3339, const sys::HttpHeaders& answer,
                                sys::Clock& clock) {
  const Result<WallTime> expiration = parse_rfc3339(rfc3339);
  if (!expiration) {
    return Error(ErrorCode::kFailed, "the credentials that came say no time at which they expire");
  }
  return lifetime_until(*expiration, answer, clock);
}

std::string url_for_people(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return tame(url);
  const std::size_t slash = std::min(url.find('/', scheme + 3), url.size());
  const std::size_t at = url.substr(0, slash).rfind('@');
  if (at == std::string_view::npos) return tame(url);
  return tame(fmt::format("{}{}", url.substr(0, scheme + 3), url.substr(at + 1)));
}

std::string url_host(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  std::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  // Readers of URLs disagree on what these mean, and so on where the request goes.
  if (authority.find_first_of("@\\") != std::string_view::npos) return "";
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return "";
    authority = authority.substr(1, close - 1);
  } else {
    authority = authority.substr(0, authority.find(':'));
  }
  return ascii_lower(authority);
}

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  // Four numbers only: "127.evil.example" is a name like any other.
  return host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3 &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<void> check_issuer_url(std::string_view url, std::string_view what) {
  const std::string host = url_host(url);
  const bool safe =
      url.starts_with("https://") || (url.starts_with("http://") && is_loopback(host));
  if (safe && !host.empty() && is_header_text(url) && url.find(' ') == std::string_view::npos) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} must be an https:// URL: credentials are sent there", what));
}

bool is_header_text(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

}  // namespace outlast::cloud
