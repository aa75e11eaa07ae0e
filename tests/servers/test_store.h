#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "cloud/credentials.h"
#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::store::testing {

// A fresh, empty part of the bucket that tests/servers/run has made on a server and named in
// OUTLAST_TEST_STORE. Nothing is retried: what the server says is what the test sees.
// Confined to its owner; the store is thread-safe.
class TestStore {
 public:
  // kInvalidArgument if a variable is missing: it was not started by tests/servers/run.
  static Result<std::unique_ptr<TestStore>> open(sys::World& world);

  ObjectStore& store() { return *fresh_; }

  // How much of a key's length is ours.
  static constexpr std::size_t kPrefixLetters = 8;
  static constexpr std::size_t kPrefixBytes = kPrefixLetters + 1;

 private:
  TestStore() = default;
  Result<void> open_s3(const std::string& bucket, sys::World& world);
  Result<void> open_gcs(const std::string& bucket, sys::World& world);
  Result<void> open_azure(const std::string& path, sys::World& world);

  std::unique_ptr<cloud::CredentialSource<cloud::AwsKeys>> aws_ = {};
  std::unique_ptr<cloud::CredentialSource<cloud::BearerToken>> gcp_ = {};
  std::unique_ptr<cloud::CredentialSource<cloud::AzureAuth>> azure_ = {};
  std::unique_ptr<ObjectStore> store_ = {};  // borrows one of those above
  std::unique_ptr<ObjectStore> fresh_ = {};  // borrows that
};

}  // namespace outlast::store::testing
