#include "store/open/open_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/encoding.h"
#include "sim/simulation.h"
#include "store/object_store.h"
#include "store/open/store_url.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

// What `url` opens as, on a machine with these variables, or why it does not.
std::string opened_as(const char* url,
                      const std::map<std::string, std::string, std::less<>>& variables = {}) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m");
  machine.environment().variables = variables;
  std::string seen;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto store = open_store(parse_store_url(url).value(), world);
          seen = store ? (*store)->properties().kind + " " + (*store)->url_of("k")
                       : store.error().to_string();
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return seen;
}

TEST(OpenStore, OpensEveryKind) {
  EXPECT_EQ(opened_as("/mnt/roots/"), "directory /mnt/roots/k");
  EXPECT_EQ(opened_as("s3://bucket/a/b"), "S3 s3://bucket/a/b/k");
  EXPECT_EQ(opened_as("s3://bucket/a/b/", {{"AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1"}}),
            "S3 s3://bucket/a/b/k");
  EXPECT_EQ(opened_as("gs://bucket", {{"STORAGE_EMULATOR_HOST", "127.0.0.1:1"}}),
            "GCS gs://bucket/k");
  EXPECT_EQ(opened_as("az://account/container/p"), "Azure az://account/container/p/k");
  EXPECT_EQ(opened_as("az://account/container/p",
                      {{"OUTLAST_AZURE_BLOB_ENDPOINT", "http://127.0.0.1:1/account/"}}),
            "Azure az://account/container/p/k");
}

TEST(OpenStore, RefusesWhatIsMalformed) {
  EXPECT_NE(opened_as("s3://bucket/a//b").find("empty part between slashes"), std::string::npos);
  EXPECT_NE(opened_as("s3://bucket/x", {{"AWS_ENDPOINT_URL_S3", "nonsense"}}).find("nonsense"),
            std::string::npos);
  EXPECT_EQ(opened_as("az://account/container", {{"OUTLAST_AZURE_BLOB_ENDPOINT", "host:1"}}),
            "OUTLAST_AZURE_BLOB_ENDPOINT is not a URL: write https://host, without the container");
}

TEST(OpenStore, CountsWhatIsAsked) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m");
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto store = open_store(parse_store_url("/roots").value(), world);
          ASSERT_TRUE(store);
          ASSERT_TRUE((*store)->put("a", as_bytes("12345"), WriteIf::always(), {}));
          ASSERT_TRUE((*store)->head("a", {}));
          EXPECT_EQ((*store)->usage().bytes_up, 5U);
          EXPECT_EQ((*store)->usage().class_a(), 1U);
          EXPECT_EQ((*store)->usage().class_b(), 1U);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace
}  // namespace outlast::store
