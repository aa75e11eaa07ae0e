#include "store/gcs/gcs_signed_url.h"

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "base/units.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/http.h"

namespace outlast::store::gcs {
namespace {

constexpr std::string_view kAlgorithm = "GOOG4-RSA-SHA256";
constexpr std::chrono::seconds kValidForMax = std::chrono::hours(24) * 7;

// As clients send it in Host: without the port that goes without saying.
std::string host_of(const sys::HttpUrl& url) {
  std::string host = url.authority;
  const std::string_view usual_port = url.scheme == "https" ? ":443" : ":80";
  if (host.ends_with(usual_port)) host.resize(host.size() - usual_port.size());
  return host;
}

}  // namespace

Result<UnsignedUrl> unsigned_url(const SignedUrlRequest& request) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(request.valid_for);
  if (seconds < std::chrono::seconds(1) || seconds > kValidForMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a signed URL of Google Cloud Storage is valid for 1s to 7d, not {}",
                             format_duration(request.valid_for)));
  }
  OUTLAST_TRY_ASSIGN(const sys::HttpUrl endpoint, sys::parse_http_url(request.endpoint));
  const std::string path = fmt::format("/{}/{}", cloud::percent_encode(request.bucket),
                                       cloud::percent_encode_path(request.key));
  const std::string time = cloud::format_compact_time(request.now);
  const std::string scope =
      fmt::format("{}/auto/storage/goog4_request", cloud::format_compact_day(request.now));
  // In the order of their names, as the canonical request wants them.
  const std::string query =
      cloud::encode_query({{"X-Goog-Algorithm", std::string(kAlgorithm)},
                           {"X-Goog-Credential", fmt::format("{}/{}", request.email, scope)},
                           {"X-Goog-Date", time},
                           {"X-Goog-Expires", fmt::format("{}", seconds.count())},
                           {"X-Goog-SignedHeaders", "host"}});
  UnsignedUrl made;
  made.url = fmt::format("{}://{}{}?{}", endpoint.scheme, endpoint.authority, path, query);
  made.canonical_request =
      fmt::format("GET\n{}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD", path, query, host_of(endpoint));
  made.string_to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope,
                                    sha256(as_bytes(made.canonical_request)).hex());
  return made;
}

Result<Secret<std::string>> sign_url(const SignedUrlRequest& request, cloud::GcpSigner& signer,
                                     const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(UnsignedUrl made, unsigned_url(request));
  OUTLAST_TRY_ASSIGN(const Bytes signature, signer.sign(as_bytes(made.string_to_sign), ctx));
  return Secret<std::string>(made.url + "&X-Goog-Signature=" + hex_encode(signature));
}

}  // namespace outlast::store::gcs
