#include "store/open/open_store.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "cloud/aws_credentials.h"
#include "cloud/aws_profile.h"
#include "cloud/azure_credentials.h"
#include "cloud/credentials.h"
#include "cloud/gcp_credentials.h"
#include "store/azure/azure_store.h"
#include "store/directory_store.h"
#include "store/gcs/gcs_store.h"
#include "store/inner_store.h"
#include "store/limited_store.h"
#include "store/metered_store.h"
#include "store/object_store.h"
#include "store/open/store_url.h"
#include "store/prefixed_store.h"
#include "store/retrying_store.h"
#include "store/s3/s3_store.h"
#include "sys/environment.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

// A store of one cloud and what it needs to live.
struct Plain {
  StoreCredentials credentials = {};
  std::unique_ptr<ObjectStore> store = {};
};

// Without asking the machine's metadata service: a server corrects a wrong region for one request,
// and off the cloud nobody would answer for seconds.
Result<std::string> configured_region(sys::World& world) {
  for (const std::string_view name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (const auto region = world.environment.get(name); region && !region->empty()) return *region;
  }
  OUTLAST_TRY_ASSIGN(const cloud::AwsConfig config,
                     cloud::AwsConfig::load(world.environment, world.files));
  const std::optional<cloud::AwsProfile> profile = config.profile(config.profile_name());
  return profile ? profile->get("region") : std::string();
}

Result<S3Addressing> configured_addressing(sys::World& world) {
  OUTLAST_TRY_ASSIGN(
      const std::string style,
      cloud::find_aws_setting(world.environment, world.files, "s3", "addressing_style"));
  if (style == "path") return S3Addressing::kPath;
  if (style == "virtual") return S3Addressing::kHost;
  return S3Addressing::kAuto;
}

Result<Plain> make_s3(const StoreUrl& url, sys::World& world) {
  Plain plain;
  plain.credentials.aws = cloud::make_aws_credentials(world);
  S3Options options = {.bucket = url.bucket};
  OUTLAST_TRY_ASSIGN(options.endpoint,
                     cloud::find_aws_endpoint(world.environment, world.files, "s3"));
  OUTLAST_TRY_ASSIGN(options.region, configured_region(world));
  OUTLAST_TRY_ASSIGN(options.addressing, configured_addressing(world));
  OUTLAST_TRY_ASSIGN(plain.store,
                     make_s3_store(options, world.http, world.clock, *plain.credentials.aws));
  return plain;
}

Result<Plain> make_gcs(const StoreUrl& url, sys::World& world) {
  Plain plain;
  GcsOptions options = {.bucket = url.bucket};
  cloud::GcpSigner* signer = nullptr;
  std::string emulator = world.environment.get("STORAGE_EMULATOR_HOST").value_or("");
  if (!emulator.empty()) {
    // Google's libraries disagree about the scheme; a bare host and port is http.
    if (emulator.find("://") == std::string::npos) emulator = "http://" + emulator;
    while (emulator.ends_with('/')) emulator.pop_back();
    options.endpoint = emulator;
    plain.credentials.gcp = std::make_unique<cloud::FixedCredentials<cloud::BearerToken>>(
        cloud::BearerToken{}, "none, because STORAGE_EMULATOR_HOST is set");
  } else {
    auto credentials = cloud::make_gcp_credentials(world, std::string(cloud::kGcpStorageScope));
    signer = credentials->signer();
    plain.credentials.gcp = std::move(credentials);
  }
  plain.store = make_gcs_store(options, world.http, world.clock, *plain.credentials.gcp, signer);
  return plain;
}

std::string without_slashes_at_the_end(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<Plain> make_azure(const StoreUrl& url, sys::World& world) {
  Plain plain;
  OUTLAST_TRY_ASSIGN(cloud::AzureAccount account,
                     cloud::find_azure_account(world.environment, url.account));
  constexpr std::string_view kEndpointVariable = "OUTLAST_AZURE_BLOB_ENDPOINT";
  const std::string endpoint = world.environment.get(kEndpointVariable).value_or("");
  if (!endpoint.empty()) {
    if (!endpoint.starts_with("https://") && !endpoint.starts_with("http://")) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} is not a URL: write https://host, without the container",
                               kEndpointVariable));
    }
    account.blob_endpoint = without_slashes_at_the_end(endpoint);
  }
  plain.credentials.azure = cloud::make_azure_credentials(world, account.name);
  plain.store = make_azure_store(
      {.account = account.name, .container = url.bucket, .endpoint = account.blob_endpoint},
      world.http, world.clock, *plain.credentials.azure);
  return plain;
}

Plain make_directory(const StoreUrl& url, sys::World& world) {
  return {.store = std::make_unique<DirectoryStore>(
              DirectoryStore::World{
                  .files = world.files, .clock = world.clock, .random = world.random.fork()},
              url.path)};
}

Result<Plain> make_plain(const StoreUrl& url, sys::World& world) {
  switch (url.kind) {
    case StoreKind::kFolder:
      return make_directory(url, world);
    case StoreKind::kS3:
      return make_s3(url, world);
    case StoreKind::kGcs:
      return make_gcs(url, world);
    case StoreKind::kAzure:
      return make_azure(url, world);
  }
  return Error(ErrorCode::kInvalidArgument, "this is no kind of store");
}

// The path behind a bucket as what stands before every key: "" or "a/b/".
Result<std::string> prefix_of(const StoreUrl& url, const ObjectStore& store) {
  std::string prefix = url.kind == StoreKind::kFolder ? "" : url.path;
  while (prefix.ends_with('/')) prefix.pop_back();
  if (prefix.empty()) return prefix;
  OUTLAST_TRY(check_key(prefix).while_doing(fmt::format("open {}", store.url_of(url.path))));
  return prefix + '/';
}

}  // namespace

OpenedStore::OpenedStore(StoreCredentials credentials, InnerStore store, std::string prefix,
                         const MeteredStore& meter)
    : StoreCredentials(std::move(credentials)),
      PrefixedStore(std::move(store), std::move(prefix)),
      meter_(meter) {}

Result<std::unique_ptr<OpenedStore>> open_store(const StoreUrl& url, sys::World& world) {
  OUTLAST_TRY_ASSIGN(Plain plain, make_plain(url, world));
  OUTLAST_TRY_ASSIGN(std::string prefix, prefix_of(url, *plain.store));
  auto metered = std::make_unique<MeteredStore>(std::move(plain.store));
  const MeteredStore& meter = *metered;
  std::unique_ptr<ObjectStore> store = std::move(metered);
  store = std::make_unique<LimitedStore>(std::move(store), world.threads);
  store = std::make_unique<RetryingStore>(std::move(store), world.clock, world.random.fork());
  return std::make_unique<OpenedStore>(std::move(plain.credentials), std::move(store),
                                       std::move(prefix), meter);
}

}  // namespace outlast::store
