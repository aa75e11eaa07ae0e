#include "cloud/jwt.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"

namespace outlast::cloud {

Result<Secret<std::string>> make_jwt(const Json& claims, std::string_view key_id,
                                     const RsaPrivateKey& key) {
  Json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key_id.empty()) header["kid"] = key_id;
  std::string token = base64_encode(as_bytes(canonical_json(header)), Base64::kUrl);
  token += '.';
  token += base64_encode(as_bytes(canonical_json(claims)), Base64::kUrl);
  OUTLAST_TRY_ASSIGN(const Bytes signature, key.sign_sha256(as_bytes(token)));
  token += '.';
  token += base64_encode(signature, Base64::kUrl);
  return Secret<std::string>(std::move(token));
}

}  // namespace outlast::cloud
