#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {

// The requests of one bucket: their URLs, and sending them with a token. Thread-safe.
class GcsClient {
 public:
  struct Options {
    std::string bucket = {};
    std::string endpoint = {};  // "https://storage.googleapis.com"
  };

  // Both must outlive it.
  GcsClient(Options options, sys::HttpClient& http,
            cloud::CredentialSource<cloud::BearerToken>& credentials);

  const std::string& bucket() const { return options_.bucket; }
  const std::string& endpoint() const { return options_.endpoint; }
  // "gs://bucket/key": what people see.
  std::string shown(std::string_view key) const;

  std::string object_url(std::string_view key, const cloud::Query& query) const;
  std::string list_url(const cloud::Query& query) const;
  std::string upload_url(const cloud::Query& query) const;

  // Sends with a token. When that is refused, once more with a fresh one. `what` begins the
  // sentence of an error.
  Result<sys::HttpResponse> send(const sys::HttpRequest& request, const std::string& what,
                                 const sys::CallContext& ctx);
  // Sends to the URI of an upload session, which is its own permission: no token goes there.
  Result<sys::HttpResponse> send_to_session(const sys::HttpRequest& request,
                                            const std::string& what, const sys::CallContext& ctx);
  // For sentences.
  std::string credentials_origin() { return credentials_.origin(); }

 private:
  struct Sent {
    sys::HttpResponse answer = {};
    bool with_token = false;
  };
  Result<Sent> send_once(sys::HttpRequest request, const std::string& what,
                         const sys::CallContext& ctx);

  const Options options_;
  sys::HttpClient& http_;
  cloud::CredentialSource<cloud::BearerToken>& credentials_;
};

}  // namespace outlast::store::gcs
