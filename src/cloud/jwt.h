#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"

namespace outlast::cloud {

// A JSON web token signed with RS256: three base64url parts joined by dots. `key_id` becomes "kid",
// unless it is empty. It proves who we are: a secret.
Result<Secret<std::string>> make_jwt(const Json& claims, std::string_view key_id,
                                     const RsaPrivateKey& key);

}  // namespace outlast::cloud
