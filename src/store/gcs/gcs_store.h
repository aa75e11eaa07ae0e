#pragma once

#include <memory>
#include <string>

#include "cloud/credentials.h"
#include "store/object_store.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {

struct GcsOptions {
  std::string bucket = {};
  std::string endpoint = "https://storage.googleapis.com";
};

// A bucket of Google Cloud Storage, through its JSON API. A version is a generation. Checksums are
// CRC-32C, sent with every object and verified by the server, and compared again with its answer.
// `signer` may be nullptr: then there are no signed URLs. Everything passed must outlive it.
// Nothing is sent before the first call.
std::unique_ptr<ObjectStore> make_gcs_store(
    const GcsOptions& options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::BearerToken>& credentials, cloud::GcpSigner* signer);

}  // namespace outlast::store
