#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace outlast::cloud {

// An Azure storage connection string, taken apart.
struct AzureConnection {
  std::string account = {};
  Secret<std::string> key = {};    // base64; empty if there is none
  Secret<std::string> sas = {};    // without the '?'; empty if there is none
  std::string blob_endpoint = {};  // no slash at the end
};

// "AccountName=a;AccountKey=k;EndpointSuffix=…", "BlobEndpoint=…;SharedAccessSignature=…",
// "UseDevelopmentStorage=true". kInvalidArgument, naming the part but no value, if a part is not
// Name=value, the account is missing, or the key is not base64.
Result<AzureConnection> parse_connection_string(std::string_view text);

}  // namespace outlast::cloud
