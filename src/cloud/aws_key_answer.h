#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credentials.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::cloud {

// {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}: what the metadata services of EC2 and
// of containers answer. kPermissionDenied with their code if that is not "Success", kUnavailable if
// the keys have expired already, kFailed if it is something else. The origin is left open.
Result<Fetched<AwsKeys>> parse_aws_keys(const IssuerCall& call, const sys::HttpResponse& answer,
                                        sys::Clock& clock);

// {"Version": 1, "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"}: what a
// credential_process prints; its name is `tool`. The origin is left open.
Result<Fetched<AwsKeys>> parse_process_keys(std::string_view text, std::string_view tool,
                                            sys::Clock& clock);

}  // namespace outlast::cloud
