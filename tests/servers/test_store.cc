#include "tests/servers/test_store.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/connection_string.h"
#include "cloud/credentials.h"
#include "store/azure/azure_store.h"
#include "store/gcs/gcs_store.h"
#include "store/object_store.h"
#include "store/prefixed_store.h"
#include "store/s3/s3_store.h"
#include "sys/world.h"
#include "tests/servers/known_servers.h"

namespace outlast::store::testing {
namespace {

Result<std::string> variable(sys::World& world, const std::string& name) {
  if (auto value = world.environment.get(name)) return *std::move(value);
  return Error(ErrorCode::kInvalidArgument,
               name + " is not set: start this through tests/servers/run NAME -- …");
}

// What follows `scheme` in `url`.
std::optional<std::string> after(std::string_view url, std::string_view scheme) {
  if (!url.starts_with(scheme)) return std::nullopt;
  return std::string(url.substr(scheme.size()));
}

}  // namespace

Result<void> TestStore::open_s3(const std::string& bucket, sys::World& world) {
  OUTLAST_TRY_ASSIGN(std::string endpoint, variable(world, "AWS_ENDPOINT_URL_S3"));
  OUTLAST_TRY_ASSIGN(std::string key_id, variable(world, "AWS_ACCESS_KEY_ID"));
  OUTLAST_TRY_ASSIGN(std::string key, variable(world, "AWS_SECRET_ACCESS_KEY"));
  OUTLAST_TRY_ASSIGN(std::string region, variable(world, "AWS_REGION"));
  OUTLAST_TRY_ASSIGN(const std::string server, variable(world, "OUTLAST_TEST_SERVER"));
  aws_ = std::make_unique<cloud::FixedCredentials<cloud::AwsKeys>>(
      cloud::AwsKeys{.access_key_id = std::move(key_id),
                     .secret_key = Secret<std::string>(std::move(key))},
      "the test");
  const S3Options options{.bucket = bucket,
                          .region = std::move(region),
                          .endpoint = std::move(endpoint),
                          .judges_all_conditions = known_server(server).judges_all_conditions};
  OUTLAST_TRY_ASSIGN(store_, make_s3_store(options, world.http, world.clock, *aws_));
  return {};
}

Result<void> TestStore::open_gcs(const std::string& bucket, sys::World& world) {
  OUTLAST_TRY_ASSIGN(std::string endpoint, variable(world, "STORAGE_EMULATOR_HOST"));
  gcp_ = std::make_unique<cloud::FixedCredentials<cloud::BearerToken>>(cloud::BearerToken{},
                                                                       "the test");
  store_ = make_gcs_store({.bucket = bucket, .endpoint = std::move(endpoint)}, world.http,
                          world.clock, *gcp_, nullptr);
  return {};
}

Result<void> TestStore::open_azure(const std::string& path, sys::World& world) {
  OUTLAST_TRY_ASSIGN(const std::string text, variable(world, "AZURE_STORAGE_CONNECTION_STRING"));
  OUTLAST_TRY_ASSIGN(const cloud::AzureConnection connection, cloud::parse_connection_string(text));
  OUTLAST_TRY_ASSIGN(Bytes key, base64_decode(connection.key.reveal()));
  azure_ = std::make_unique<cloud::FixedCredentials<cloud::AzureAuth>>(
      cloud::AzureSharedKey{.key = Secret<Bytes>(std::move(key))}, "the test");
  store_ = make_azure_store({.account = connection.account,
                             .container = path.substr(path.find('/') + 1),
                             .endpoint = connection.blob_endpoint},
                            world.http, world.clock, *azure_);
  return {};
}

Result<std::unique_ptr<TestStore>> TestStore::open(sys::World& world) {
  OUTLAST_TRY_ASSIGN(const std::string url, variable(world, "OUTLAST_TEST_STORE"));
  std::unique_ptr<TestStore> made(new TestStore);
  if (const auto s3 = after(url, "s3://")) {
    OUTLAST_TRY(made->open_s3(*s3, world));
  } else if (const auto gcs = after(url, "gs://")) {
    OUTLAST_TRY(made->open_gcs(*gcs, world));
  } else if (const auto azure = after(url, "az://")) {
    OUTLAST_TRY(made->open_azure(*azure, world));
  } else {
    return Error(ErrorCode::kInvalidArgument, "no test knows the store " + url);
  }
  const std::string prefix = make_token(world.random, kPrefixLetters) + "/";
  made->fresh_ = std::make_unique<PrefixedStore>(*made->store_, prefix);
  return made;
}

}  // namespace outlast::store::testing
