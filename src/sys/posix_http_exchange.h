#pragma once

#include <curl/curl.h>
#include <curl/easy.h>
#include <curl/multi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "sys/http.h"

namespace outlast::sys {

// What libcurl needs to make connections, and the connections that it keeps: one exchange at a
// time. Confined to whoever took it from the client's pool.
struct CurlSlot {
  struct MultiDeleter {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
  };
  struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  // In this order: the multi handle, which owns the connections, goes last.
  std::unique_ptr<CURLM, MultiDeleter> multi = {};
  std::unique_ptr<CURL, EasyDeleter> easy = {};
  std::string origin = {};  // "http://host:port" that it last talked to
};

// One request on its way through libcurl: sets the options, keeps what comes in, and says at the
// end what it was. Confined to the call that sends it.
class CurlExchange {
 public:
  // `request` and `slot` outlive it; `ca_file` may be empty.
  CurlExchange(const HttpRequest& request, CurlSlot& slot, const std::string& ca_file);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  // Hands the request to libcurl; drive the slot's multi handle afterwards.
  Result<void> start();
  // Whether the connection stands and the request goes out: from here on something may have been
  // acted on.
  bool request_began() const { return sendings_ > 0; }
  // Grows with every byte that is sent or comes in.
  std::uint64_t bytes_moved() const;
  // What became of it, once libcurl is done.
  Result<HttpResponse> finish(CURLcode code);

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_read(char* data, std::size_t size, std::size_t count, void* self);
  static int on_sending(void* self, char*, char*, int, int);
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

  template <typename Value>
  void set(CURLoption option, Value value);
  void set_request();
  Result<void> set_headers();
  Result<void> take_header_line(std::string_view line);
  Result<void> take_body(BytesView piece);
  bool has_body() const;
  bool answer_is_whole() const;
  Error failed(ErrorCode code, std::string_view why) const;
  Error classify(CURLcode code) const;

  const HttpRequest& request_;
  CurlSlot& slot_;
  const std::string& ca_file_;
  curl_slist* header_list_ = nullptr;
  char error_text_[CURL_ERROR_SIZE] = {};
  CURLcode set_failed_ = CURLE_OK;

  int sendings_ = 0;
  bool sent_again_ = false;        // libcurl was about to, and was kept from it
  std::uint64_t read_offset_ = 0;  // into the streamed body
  HttpResponse answer_ = {};
  std::uint64_t header_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;
  bool headers_are_whole_ = false;
  std::optional<Error> error_ = {};  // what a callback could not return through libcurl
};

}  // namespace outlast::sys
