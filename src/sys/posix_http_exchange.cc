#include "sys/posix_http_exchange.h"

#include <curl/curl.h>
#include <curl/easy.h>
#include <curl/multi.h>
#include <curl/system.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/http.h"

namespace outlast::sys {
namespace {

constexpr std::uint64_t kHeaderBytesMax = 256U << 10U;
// Of what comes in and of what goes out: large enough that the system calls do not count, small
// enough that many exchanges at once do not either.
constexpr long kBufferBytes = 512L << 10U;
// A connection that was idle for longer is not trusted: something on the way may have forgotten it.
constexpr long kIdleSecondsMax = 60;

long to_milliseconds(Duration length) {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(length).count();
  return static_cast<long>(std::clamp<std::int64_t>(whole, 1, 1'000'000'000));
}

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

CurlExchange::CurlExchange(const HttpRequest& request, CurlSlot& slot, const std::string& ca_file)
    : request_(request), slot_(slot), ca_file_(ca_file) {}

CurlExchange::~CurlExchange() {
  // Taken out before it is done, the connection is closed; otherwise it is kept.
  curl_multi_remove_handle(slot_.multi.get(), slot_.easy.get());
  curl_easy_reset(slot_.easy.get());
  curl_slist_free_all(header_list_);
}

template <typename Value>
void CurlExchange::set(CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(slot_.easy.get(), option, value);
  if (code != CURLE_OK && set_failed_ == CURLE_OK) set_failed_ = code;
}

Result<void> CurlExchange::start() {
  set(CURLOPT_ERRORBUFFER, error_text_);
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROGRESS, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (request_.direct) set(CURLOPT_PROXY, "");
  if (!ca_file_.empty()) {
    set(CURLOPT_CAINFO, ca_file_.c_str());
    set(CURLOPT_PROXY_CAINFO, ca_file_.c_str());
  }

  set(CURLOPT_CONNECTTIMEOUT_MS, to_milliseconds(request_.connect_timeout));
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_MAXAGE_CONN, kIdleSecondsMax);
  // Refused, for once, after an exchange that failed before it had a connection; the default does.
  (void)curl_easy_setopt(slot_.easy.get(), CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
  // A name that does not resolve must not hold up a call that was cancelled.
  set(CURLOPT_QUICK_EXIT, 1L);

  set(CURLOPT_OPENSOCKETFUNCTION, &CurlExchange::on_socket);
  set(CURLOPT_PREREQFUNCTION, &CurlExchange::on_sending);
  set(CURLOPT_PREREQDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &CurlExchange::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &CurlExchange::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set_request();
  OUTLAST_TRY(set_headers());
  if (set_failed_ != CURLE_OK) {
    return failed(ErrorCode::kFailed, fmt::format("libcurl takes no such request: {}",
                                                  curl_easy_strerror(set_failed_)));
  }
  const CURLMcode added = curl_multi_add_handle(slot_.multi.get(), slot_.easy.get());
  if (added != CURLM_OK) return failed(ErrorCode::kFailed, curl_multi_strerror(added));
  return {};
}

bool CurlExchange::has_body() const {
  return body_size(request_) > 0 || request_.method == "PUT" || request_.method == "POST" ||
         request_.method == "PATCH";
}

void CurlExchange::set_request() {
  if (!has_body()) {
    if (request_.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else {
      set(CURLOPT_HTTPGET, 1L);
      set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    }
    return;
  }
  if (request_.streamed_body == nullptr) {
    // As a field and not through a callback: a small body then leaves in one packet with the
    // headers.
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS,
        request_.body.empty() ? "" : reinterpret_cast<const char*>(request_.body.data()));
  } else {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request_.streamed_body->size()));
    set(CURLOPT_READFUNCTION, &CurlExchange::on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
  }
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

Result<void> CurlExchange::set_headers() {
  const auto append = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(header_list_, line.c_str());
    if (longer == nullptr) return false;
    header_list_ = longer;
    return true;
  };
  bool all = true;
  for (const auto& [name, value] : request_.headers) {
    // In libcurl's words "Name:" means no such header, "Name;" one without a value.
    const std::string_view trimmed = trim_blanks(value);
    all &= append(trimmed.empty() ? name + ";" : fmt::format("{}: {}", name, trimmed));
  }
  for (const char* ours : {"Accept", "Content-Type", "Expect"}) {
    if (!find_header(request_.headers, ours)) all &= append(fmt::format("{}:", ours));
  }
  if (!all) return failed(ErrorCode::kFailed, "there is no memory for its headers");
  set(CURLOPT_HTTPHEADER, header_list_);
  return {};
}

std::uint64_t CurlExchange::bytes_moved() const {
  curl_off_t up = 0;
  curl_off_t down = 0;
  long request_size = 0;
  curl_easy_getinfo(slot_.easy.get(), CURLINFO_SIZE_UPLOAD_T, &up);
  curl_easy_getinfo(slot_.easy.get(), CURLINFO_SIZE_DOWNLOAD_T, &down);
  curl_easy_getinfo(slot_.easy.get(), CURLINFO_REQUEST_SIZE, &request_size);
  return static_cast<std::uint64_t>(up) + static_cast<std::uint64_t>(down) +
         static_cast<std::uint64_t>(request_size) + header_bytes_;
}

// libcurl sends a request again when a kept connection ends without an answer. The server may have
// acted before it closed, so that only what changes nothing may go out twice.
int CurlExchange::on_sending(void* self, char*, char*, int, int) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const bool repeatable = exchange.request_.method == "GET" || exchange.request_.method == "HEAD";
  if (++exchange.sendings_ > 1 && (!repeatable || exchange.has_body())) {
    exchange.sent_again_ = true;
    return CURL_PREREQFUNC_ABORT;
  }
  return CURL_PREREQFUNC_OK;
}

// Children of this process must not inherit connections.
curl_socket_t CurlExchange::on_socket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t CurlExchange::on_read(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  HttpBody& body = *exchange.request_.streamed_body;
  const std::uint64_t left = body.size() - exchange.read_offset_;
  const std::size_t wanted = std::min<std::uint64_t>(size * count, left);
  if (wanted == 0) return 0;
  Result<std::size_t> got =
      body.read_at(std::as_writable_bytes(std::span(data, wanted)), exchange.read_offset_);
  if (got && *got == 0) {
    got = exchange.failed(ErrorCode::kFailed,
                          fmt::format("its body ended after {} of {} bytes: has it changed?",
                                      exchange.read_offset_, body.size()));
  }
  if (!got) {
    exchange.error_ = got.error();
    return CURL_READFUNC_ABORT;
  }
  exchange.read_offset_ += *got;
  return *got;
}

std::size_t CurlExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  if (auto taken = exchange.take_header_line({data, size * count}); !taken) {
    exchange.error_ = taken.error();
    return 0;
  }
  return size * count;
}

Result<void> CurlExchange::take_header_line(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderBytesMax) {
    return failed(ErrorCode::kFailed,
                  fmt::format("the answer's headers are over {} bytes; is that the right server?",
                              kHeaderBytesMax));
  }
  if (body_bytes_ > 0) return {};  // a trailer
  if (line.starts_with("HTTP/")) {
    answer_.headers.clear();  // those before belonged to an interim answer
    answer_.status = 0;
    headers_are_whole_ = false;
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      const std::string_view status = line.substr(space + 1, 3);
      std::from_chars(status.data(), status.data() + status.size(), answer_.status);
    }
    return {};
  }
  const std::string_view text = trim_blanks(line);
  if (text.empty()) {
    headers_are_whole_ = answer_.status >= 200;
    return {};
  }
  if ((line.front() == ' ' || line.front() == '\t') && !answer_.headers.empty()) {
    answer_.headers.back().second.append(" ").append(text);  // a folded line
    return {};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  answer_.headers.emplace_back(trim_blanks(text.substr(0, colon)),
                               trim_blanks(text.substr(colon + 1)));
  return {};
}

std::size_t CurlExchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::size_t length = size * count;
  if (auto taken = exchange.take_body(std::as_bytes(std::span(data, length))); !taken) {
    exchange.error_ = taken.error();
    return length == 0 ? 1 : 0;
  }
  return length;
}

Result<void> CurlExchange::take_body(BytesView piece) {
  body_bytes_ += piece.size();
  if (request_.sink && answer_.status >= 200 && answer_.status < 300) {
    return request_.sink(answer_, piece);
  }
  if (body_bytes_ > request_.gathered_bytes_max) {
    return failed(
        ErrorCode::kFailed,
        fmt::format("the answer ({}) has a body of more than {} bytes, which nobody expects",
                    answer_.status, request_.gathered_bytes_max));
  }
  answer_.body.append(as_text(piece));
  return {};
}

// Whether all of the answer came, though libcurl ended with an error: it answered early, and the
// rest of the request was not wanted.
bool CurlExchange::answer_is_whole() const {
  if (!headers_are_whole_) return false;
  if (request_.method == "HEAD" || answer_.status == 204 || answer_.status == 304) return true;
  const auto length = find_header(answer_.headers, "Content-Length");
  if (!length || find_header(answer_.headers, "Transfer-Encoding")) return false;
  return *length == std::to_string(body_bytes_);
}

Result<HttpResponse> CurlExchange::finish(CURLcode code) {
  if (error_) return *error_;
  if (sent_again_) {
    return failed(ErrorCode::kUnknownOutcome,
                  "the server closed the connection without an answer; it may have acted before");
  }
  if (code == CURLE_OK && headers_are_whole_) return std::move(answer_);
  if ((code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) && answer_is_whole()) {
    return std::move(answer_);
  }
  return classify(code);
}

Error CurlExchange::failed(ErrorCode code, std::string_view why) const {
  return {code, fmt::format("{} {}: {}", request_.method, without_query(request_.url), why)};
}

Error CurlExchange::classify(CURLcode code) const {
  const std::string_view said =
      error_text_[0] != '\0' ? std::string_view(error_text_) : curl_easy_strerror(code);
  if (request_began()) {
    // libcurl says so of one header line that is over its own, smaller limit.
    if (code == CURLE_OUT_OF_MEMORY) {
      return failed(ErrorCode::kFailed,
                    "the answer's headers are too large; is that the right server?");
    }
    if (answer_.status >= 200) {
      return failed(ErrorCode::kUnknownOutcome,
                    fmt::format("only a part of the answer ({}) came: {}", answer_.status, said));
    }
    return failed(ErrorCode::kUnknownOutcome, fmt::format("no answer came: {}", said));
  }
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return failed(ErrorCode::kInvalidArgument, said);
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
      return failed(ErrorCode::kFailed, said);
    case CURLE_SSL_CACERT_BADFILE:
      return failed(ErrorCode::kFailed,
                    fmt::format("the file of trusted certificates '{}' cannot be used; see "
                                "CURL_CA_BUNDLE and SSL_CERT_FILE",
                                ca_file_));
    case CURLE_COULDNT_RESOLVE_HOST:
      return failed(ErrorCode::kUnavailable,
                    fmt::format("{}; check the name and the network", said));
    case CURLE_PEER_FAILED_VERIFICATION:
      return failed(ErrorCode::kUnavailable,
                    fmt::format("the server's certificate is not trusted ({}); if it is the right "
                                "server, name its authority's file in SSL_CERT_FILE",
                                said));
    default:
      return failed(ErrorCode::kUnavailable, said);
  }
}

}  // namespace outlast::sys
