#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/gcp_credentials.h"
#include "store/inner_store.h"
#include "store/metered_store.h"
#include "store/open/store_url.h"
#include "store/prefixed_store.h"
#include "sys/world.h"

namespace outlast::store {

// Whichever of these the store asks for its credentials.
struct StoreCredentials {
  std::unique_ptr<cloud::CredentialSource<cloud::AwsKeys>> aws = {};
  std::unique_ptr<cloud::CredentialSource<cloud::BearerToken>> gcp = {};
  std::unique_ptr<cloud::CredentialSource<cloud::AzureAuth>> azure = {};
};

// A store as the rest of the program uses it: with its credentials, and with what retries, limits
// and counts its requests. Thread-safe.
class OpenedStore : private StoreCredentials, public PrefixedStore {
 public:
  // `meter` is a part of `store`. The credentials are a base class because they outlive the store.
  OpenedStore(StoreCredentials credentials, InnerStore store, std::string prefix,
              const MeteredStore& meter);

  // What was asked of the store so far: every try counts, as it does on the bill.
  StoreUsage usage() const { return meter_.usage(); }

 private:
  const MeteredStore& meter_;
};

// The store at `url`: its keys lie below the URL's path. Endpoints, regions and credentials come
// from where the clouds' own tools take them (docs/stores.md). kInvalidArgument if those are
// malformed. Nothing is sent yet. `world` must outlive it.
Result<std::unique_ptr<OpenedStore>> open_store(const StoreUrl& url, sys::World& world);

}  // namespace outlast::store
