// The suite that every store must pass, on the server that tests/servers/run has started.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "store/testing/store_suite.h"
#include "sys/posix_world.h"
#include "sys/world.h"
#include "tests/servers/known_servers.h"
#include "tests/servers/test_store.h"

namespace outlast::store::testing {
namespace {

KnownServer started_server() {
  sys::RealWorld real;
  return known_server(real.world().environment.get("OUTLAST_TEST_SERVER").value_or("unknown"));
}

StoreMaker the_server() {
  const KnownServer server = started_server();
  return {.name = server.name,
          .run =
              [](const StoreMaker::Body& body) {
                sys::RealWorld real;
                const auto opened = TestStore::open(real.world());
                ASSERT_TRUE(opened) << opened.error().to_string();
                body((*opened)->store(), real.world());
              },
          .deviations = server.deviations,
          .key_bytes_max = server.key_bytes_max - TestStore::kPrefixBytes,
          .same_clock = true};
}

}  // namespace

// Less than the suite asks: for servers that get the rest of it wrong.
TEST_P(StoreSuite, RemoveIfSparesAnotherVersion) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string first = put(store, "a", "1");
    const std::string second = put(store, "a", "2");
    EXPECT_EQ(code_of(store.remove_if("a", first, {})), ErrorCode::kConditionFailed);
    EXPECT_EQ(read(store, "a"), "2");
    EXPECT_TRUE(store.remove_if("a", second, {}));
    EXPECT_EQ(code_of(store.head("a", {})), ErrorCode::kNotFound);
  });
}

INSTANTIATE_TEST_SUITE_P(Server, StoreSuite, ::testing::Values(the_server()));

}  // namespace outlast::store::testing
