#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/credentials.h"
#include "sys/environment.h"
#include "sys/world.h"

namespace outlast::cloud {

// A storage account, and where its blobs are.
struct AzureAccount {
  std::string name = {};
  // "https://NAME.blob.core.windows.net", "http://127.0.0.1:10000/devstoreaccount1"; no slash at
  // the end.
  std::string blob_endpoint = {};
};

// `name`, or, if that is empty, the account of AZURE_STORAGE_CONNECTION_STRING or
// AZURE_STORAGE_ACCOUNT. The endpoint is the connection string's, if that is of the same account.
// kInvalidArgument, with what to set, if nothing names an account or the connection string is
// malformed.
Result<AzureAccount> find_azure_account(sys::Environment& environment, std::string_view name);

// Whatever opens the account: AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY and
// AZURE_STORAGE_SAS_TOKEN, if they are for this account; then a token from the identity that
// Azure's own libraries would use: the environment's client secret, a workload identity, a managed
// identity, the login of the az command. The first that is configured counts. Makes no call before
// the first get(). `world` must outlive it.
std::unique_ptr<CredentialSource<AzureAuth>> make_azure_credentials(sys::World& world,
                                                                    std::string account);

}  // namespace outlast::cloud
