// Signs what it is told to, a JSON line in for a JSON line out, so that other people's signers can
// be compared to ours. Keys in here are made up by the test: they are not secrets.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/azure_signing.h"
#include "cloud/credentials.h"
#include "cloud/jwt.h"
#include "cloud/sigv4.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"

namespace outlast {
namespace {

WallTime at_second(const Json& seconds) {
  return WallTime(std::chrono::seconds(seconds.get<std::int64_t>()));
}

template <typename Pairs>
Pairs pairs_of(const Json& array) {
  Pairs pairs;
  for (const Json& pair : array) {
    pairs.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  }
  return pairs;
}

Result<Json> sign_sigv4(const Json& c) {
  const cloud::Query query = pairs_of<cloud::Query>(c["query"]);
  const sys::HttpHeaders headers = pairs_of<sys::HttpHeaders>(c["headers"]);
  const std::string method = c["method"];
  const std::string host = c["host"];
  const std::string path = c["path"];
  const std::string payload = c["payload_hash"];
  const std::string region = c["region"];
  const std::string service = c["service"];
  const cloud::SigV4Request request{.method = method,
                                    .host = host,
                                    .path = path,
                                    .query = &query,
                                    .headers = &headers,
                                    .payload_hash = payload};
  const cloud::AwsKeys keys{.access_key_id = c["access_key"],
                            .secret_key = Secret<std::string>(c["secret_key"].get<std::string>()),
                            .session_token = Secret<std::string>(c["token"].get<std::string>())};
  const WallTime now = at_second(c["time"]);
  const cloud::SigningKey key =
      cloud::derive_signing_key(keys, {.region = region, .service = service}, now);
  if (c["kind"] == "presign") {
    const auto valid_for = std::chrono::seconds(c["valid_for"].get<std::int64_t>());
    return Json{{"query", cloud::presign_v4(request, key, now, valid_for).reveal()}};
  }
  Json answer = Json::object();
  for (const auto& [name, value] : cloud::sign_v4(request, key, now)) answer[name] = value;
  return answer;
}

Result<Json> sign_shared_key(const Json& c) {
  OUTLAST_TRY_ASSIGN(Bytes key, base64_decode(c["key"].get<std::string>()));
  const std::string body = c["body"];
  const sys::HttpRequest request{.method = c["method"],
                                 .url = c["url"],
                                 .headers = pairs_of<sys::HttpHeaders>(c["headers"]),
                                 .body = as_bytes(body)};
  OUTLAST_TRY_ASSIGN(const Secret<std::string> authorization,
                     cloud::azure_shared_key(c["account"].get<std::string>(),
                                             Secret<Bytes>(std::move(key)), request));
  return Json{{"authorization", authorization.reveal()}};
}

Result<Json> sign_sas(const Json& c) {
  OUTLAST_TRY_ASSIGN(Bytes bytes, base64_decode(c["key"].get<std::string>()));
  const Secret<Bytes> key(std::move(bytes));
  const std::optional<WallTime> starts =
      c["starts"].is_null() ? std::nullopt : std::optional(at_second(c["starts"]));
  if (c["kind"] == "service_sas") {
    const cloud::AzureServiceSas sas{.account = c["account"],
                                     .container = c["container"],
                                     .blob = c["blob"],
                                     .permissions = c["permissions"],
                                     .starts = starts,
                                     .expires = at_second(c["expires"]),
                                     .https_only = c["https_only"]};
    return Json{{"query", cloud::sign_service_sas(sas, key).reveal()}};
  }
  const cloud::AzureAccountSas sas{.account = c["account"],
                                   .services = c["services"],
                                   .resource_types = c["resource_types"],
                                   .permissions = c["permissions"],
                                   .starts = starts,
                                   .expires = at_second(c["expires"]),
                                   .https_only = c["https_only"]};
  return Json{{"query", cloud::sign_account_sas(sas, key).reveal()}};
}

Result<Json> sign_jwt(const Json& c) {
  OUTLAST_TRY_ASSIGN(const RsaPrivateKey key, RsaPrivateKey::from_pem(c["pem"].get<std::string>()));
  OUTLAST_TRY_ASSIGN(const Secret<std::string> token,
                     cloud::make_jwt(c["claims"], c["key_id"].get<std::string>(), key));
  return Json{{"token", token.reveal()}};
}

Result<Json> sign(const Json& c) {
  const std::string kind = c["kind"];
  if (kind == "sigv4" || kind == "presign") return sign_sigv4(c);
  if (kind == "shared_key") return sign_shared_key(c);
  if (kind == "service_sas" || kind == "account_sas") return sign_sas(c);
  if (kind == "jwt") return sign_jwt(c);
  return Error(ErrorCode::kInvalidArgument, "there is no kind '" + kind + "'");
}

}  // namespace
}  // namespace outlast

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const outlast::Result<outlast::Json> request = outlast::parse_json(line);
    const outlast::Result<outlast::Json> answer =
        request ? outlast::sign(*request) : outlast::Result<outlast::Json>(request.error());
    if (!answer) {
      std::cerr << "sign_cases: " << answer.error().to_string() << '\n';
      return 1;
    }
    std::cout << outlast::canonical_json(*answer) << '\n';
  }
  return 0;
}
