#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/http.h"

// Proofs for Azure Blob Storage that are computed from an account's key. Pure: nothing here asks
// for the time or sends anything.
namespace outlast::cloud {

// The version of the protocol that requests and signatures of ours follow.
inline constexpr std::string_view kAzureVersion = "2021-12-02";

// What a SharedKey signature covers: the method, the headers that Azure looks at, every x-ms-*
// header, and the URL as it will be sent. x-ms-date must be among the headers. kInvalidArgument if
// the URL has no path or its query is not percent-encoded.
Result<std::string> azure_string_to_sign(std::string_view account, const sys::HttpRequest& request);

// The value of the Authorization header for `request` as it stands: sign last.
Result<Secret<std::string>> azure_shared_key(std::string_view account, const Secret<Bytes>& key,
                                             const sys::HttpRequest& request);

// A signature in a URL, for one blob or one container.
struct AzureServiceSas {
  std::string account = {};
  std::string container = {};
  std::string blob = {};  // as it is, not percent-encoded; empty: the container and all in it
  std::string permissions = {};         // "r", "rw"; in Azure's order, racwdl…
  std::optional<WallTime> starts = {};  // at once otherwise, by Azure's clock
  WallTime expires = {};
  bool https_only = false;
};
// "sv=…&sig=…": what is appended to the blob's or the container's URL.
Secret<std::string> sign_service_sas(const AzureServiceSas& sas, const Secret<Bytes>& key);

// A signature in a URL, for a whole account.
struct AzureAccountSas {
  std::string account = {};
  std::string services = "b";          // b: blobs
  std::string resource_types = "sco";  // service, containers, objects
  std::string permissions = {};        // in Azure's order, rwdlac…
  std::optional<WallTime> starts = {};
  WallTime expires = {};
  bool https_only = false;
};
Secret<std::string> sign_account_sas(const AzureAccountSas& sas, const Secret<Bytes>& key);

}  // namespace outlast::cloud
