#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "store/azure/azure_errors.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {

// One container of one storage account.
struct AzureOptions {
  std::string account = {};
  std::string container = {};
  // Without a slash at its end; empty: https://ACCOUNT.blob.core.windows.net. Emulators have the
  // account in the path: http://127.0.0.1:10000/devstoreaccount1.
  std::string endpoint = {};
};

// A request to be made of a container or of a blob in it.
struct AzureCall {
  std::string_view verb = {};  // for sentences: "put"
  std::string_view method = "GET";
  std::string_view key = {};  // empty: the container itself
  // What sentences name instead of the key, where that is something else: a prefix.
  std::string_view shown = {};
  cloud::Query query = {};
  sys::HttpHeaders headers = {};
  BytesView body = {};
  bool writes = false;       // see AzureAttempt
  bool long_answer = false;  // a list: 5,000 long names, or 100,000 blocks
  std::function<Result<void>(const sys::HttpResponse& answer, BytesView piece)> sink = {};
};

// An answer of any status, and what is needed to tell why it is no success.
struct AzureAnswer {
  sys::HttpResponse http = {};
  AzureAttempt attempt = {};

  bool ok() const { return http.status >= 200 && http.status < 300; }
  Error error() const { return azure_error(attempt, http); }
  // Of what a successful write has written.
  Result<std::string> written_version() const;
};

// Dates, signs and sends. Nothing is repeated, but for one case: credentials that were refused and
// may be old are fetched anew, once. Thread-safe.
class AzureClient {
 public:
  // All three must outlive it.
  AzureClient(AzureOptions options, sys::HttpClient& http, sys::Clock& clock,
              cloud::CredentialSource<cloud::AzureAuth>& credentials);

  const AzureOptions& options() const { return options_; }
  sys::Clock& clock() { return clock_; }
  cloud::CredentialSource<cloud::AzureAuth>& credentials() { return credentials_; }

  // "az://account/container/key"
  std::string url_of(std::string_view key) const;
  // "https://account.blob.core.windows.net/container/key", percent-encoded, without a query.
  std::string http_url_of(std::string_view key) const;

  // Another one at each call.
  std::uint64_t next_number() { return ++last_number_; }

  // Errors are those of the HTTP client and of the credentials; they say what was tried.
  Result<AzureAnswer> send(const AzureCall& call, const sys::CallContext& ctx);

 private:
  Result<AzureAnswer> send_once(const AzureCall& call, const sys::CallContext& ctx);

  const AzureOptions options_;
  sys::HttpClient& http_;
  sys::Clock& clock_;
  cloud::CredentialSource<cloud::AzureAuth>& credentials_;
  std::atomic<std::uint64_t> last_number_ = 0;
};

}  // namespace outlast::store
