#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/sigv4.h"
#include "cloud/url_encoding.h"
#include "store/s3/s3_address.h"
#include "store/s3/s3_answers.h"
#include "store/s3/s3_errors.h"
#include "store/s3/s3_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store::s3 {

// One request. Borrows everything.
struct Call {
  Operation operation = Operation::kGet;
  std::string_view key = {};  // "": the bucket
  cloud::Query query = {};
  sys::HttpHeaders headers = {};
  BytesView body = {};
  std::string_view payload_hash = cloud::kEmptyPayload;
  std::function<Result<void>(const sys::HttpResponse& answer, BytesView piece)> sink = {};
  Duration stall_timeout = std::chrono::seconds(30);
};

struct Answer {
  sys::HttpResponse http = {};
  Refusal refusal = {};  // of an answer that is not 2xx
  bool ok() const { return http.status >= 200 && http.status < 300; }
};

// What was learnt about the server, beside where it is and what time it has. Each is only ever
// written with what an answer has proved, so that it does not matter who writes last.
struct Learned {
  enum class Checksums { kUntried, kKept, kRefused };  // kKept: it sends back the CRC-32C we sent
  enum class EtagForm { kUntried, kQuoted, kBare };    // in If-Match of a PUT
  std::atomic<Checksums> checksums = Checksums::kUntried;
  std::atomic<EtagForm> etag_form = EtagForm::kUntried;
  std::atomic<bool> bucket_exists = false;
};

// Signs requests for a bucket and sends them; repairs what can be repaired by asking again: the
// region, our clock, old credentials. Thread-safe.
class Connection {
 public:
  Connection(const S3Options& options, Address address, sys::HttpClient& http, sys::Clock& clock,
             cloud::CredentialSource<cloud::AwsKeys>& credentials);

  // The last answer, whatever it is. An error, which says what was tried, if there was none.
  Result<Answer> call(const Call& call, const sys::CallContext& ctx);
  // The same, but an answer that is not 2xx is its error.
  Result<Answer> must(const Call& call, const sys::CallContext& ctx);
  // What to say of an answer that is not 2xx.
  Error error(const Call& call, const Answer& answer) const;

  // An URL for a GET of the object, good for so long.
  Result<Secret<std::string>> presign(std::string_view key, Duration valid_for,
                                      const sys::CallContext& ctx);

  std::string url_of(std::string_view key) const;
  bool amazon() const { return amazon_; }
  bool safe_wire() const { return safe_wire_; }
  Learned& learned() { return learned_; }

 private:
  // Where, when and with what the next request is signed.
  struct Signing {
    std::shared_ptr<const Address> address = {};        // shared with address_; immutable
    std::shared_ptr<const cloud::SigningKey> key = {};  // shared with key_; immutable
    WallTime now = {};
  };
  Result<Signing> signing(std::string_view doing, const sys::CallContext& ctx);
  Result<Answer> exchange(const Call& call, const Signing& signing, const sys::CallContext& ctx);
  Result<Answer> send(const Call& call, const sys::CallContext& ctx);
  // A HEAD has no body that says what was wrong: asks again for one that has.
  Result<Answer> explain(const Call& head, Answer answer, const sys::CallContext& ctx);
  // Each: whether the answer told something new that a second try can use.
  bool learn_region(const Answer& answer, const Address& used);
  bool learn_clock(const Answer& answer);

  const S3Options options_;
  const bool amazon_;
  const bool safe_wire_;
  sys::HttpClient& http_;
  sys::Clock& clock_;
  cloud::CredentialSource<cloud::AwsKeys>& credentials_;
  Learned learned_;

  mutable Mutex mutex_;
  std::shared_ptr<const Address> address_ OUTLAST_GUARDED_BY(mutex_);
  std::shared_ptr<const cloud::SigningKey> key_ OUTLAST_GUARDED_BY(mutex_);
  Secret<std::string> key_made_of_ OUTLAST_GUARDED_BY(mutex_);  // the secret key
  Duration clock_offset_ OUTLAST_GUARDED_BY(mutex_) = Duration::zero();
};

}  // namespace outlast::store::s3
