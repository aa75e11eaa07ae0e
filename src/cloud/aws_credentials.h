#pragma once

#include <memory>

#include "cloud/credentials.h"
#include "sys/world.h"

namespace outlast::cloud {

// AWS keys, looked for where AWS's own tools look and in their order: the environment
// (AWS_ACCESS_KEY_ID …), a web identity (AWS_WEB_IDENTITY_TOKEN_FILE), the profile in
// ~/.aws/credentials and ~/.aws/config, the container's endpoint, the instance's role. The first
// that is configured counts: if it fails, its error is given, and the ones after it are not asked.
// Makes no call before the first get(). `world` must outlive it.
std::unique_ptr<CredentialSource<AwsKeys>> make_aws_credentials(sys::World& world);

}  // namespace outlast::cloud
