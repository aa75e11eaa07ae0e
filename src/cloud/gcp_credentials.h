#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cloud/credentials.h"
#include "sys/world.h"

namespace outlast::cloud {

inline constexpr std::string_view kGcpStorageScope =
    "https://www.googleapis.com/auth/devstorage.read_write";
inline constexpr std::string_view kGcpPlatformScope =
    "https://www.googleapis.com/auth/cloud-platform";

// Google's application default credentials. Thread-safe.
class GcpCredentials : public CredentialSource<BearerToken> {
 public:
  // Signs with the key of the service account that get() speaks for; nullptr if there is no such
  // key on this machine (a user's login, the metadata server). Reads the key file the first time.
  // Ours.
  virtual GcpSigner* signer() = 0;
};

// Looked for where Google's own libraries look and in their order: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, gcloud's application_default_credentials.json, the metadata
// server; then `gcloud auth print-access-token`, if gcloud is installed. The first that is there
// counts. Makes no call before the first get() or signer(). `world` must outlive it.
std::unique_ptr<GcpCredentials> make_gcp_credentials(sys::World& world, std::string scope);

}  // namespace outlast::cloud
