#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "cloud/aws_profile.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/world.h"

// The security token service, as far as the credential chain needs it.
namespace outlast::cloud {

struct StsRole {
  std::string arn = {};
  std::string session_name = {};  // "": one that names this machine
  std::string external_id = {};
  int duration_seconds = 3600;
};

// AssumeRoleWithWebIdentity: unsigned, the token in the file is the proof. The file is read anew
// each time. The endpoint is AWS_ENDPOINT_URL_STS or that of the region; `profile` may name one.
Result<Fetched<AwsKeys>> assume_role_with_web_identity(sys::World& world, const StsRole& role,
                                                       const std::string& token_file,
                                                       const AwsProfile* profile,
                                                       const sys::CallContext& ctx);

// AssumeRole: signed with `keys`.
Result<Fetched<AwsKeys>> assume_role(sys::World& world, const StsRole& role, const AwsKeys& keys,
                                     const AwsProfile* profile, const sys::CallContext& ctx);

}  // namespace outlast::cloud
