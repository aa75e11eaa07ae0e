#pragma once

#include <optional>

#include "base/result.h"
#include "cloud/caching_credentials.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cloud {

// The role of an ECS task or EKS pod: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, with the
// token of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or AWS_CONTAINER_AUTHORIZATION_TOKEN. nullopt if
// neither is set. kInvalidArgument if the full URI is neither https nor the address of this machine
// or of the agents that AWS runs beside it: the token would go out in the clear.
Result<std::optional<Fetched<AwsKeys>>> fetch_aws_container_keys(sys::World& world,
                                                                 const sys::CallContext& ctx);

}  // namespace outlast::cloud
