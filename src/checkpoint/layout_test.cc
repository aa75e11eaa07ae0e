#include "checkpoint/layout.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "job/log_entry.h"
#include "store/object_store.h"

namespace outlast::checkpoint {
namespace {

TEST(JobFolder, IsThatOfTheName) {
  EXPECT_EQ(job_folder("mnist-2").value_or(""), "jobs/mnist-2/");
}

TEST(JobFolder, RefusesWhatIsNoName) {
  for (const std::string_view name : {"", "..", "a/b", "a b", "A\n", "-x", "x-", "jobs/../x"}) {
    const auto folder = job_folder(name);
    ASSERT_FALSE(folder) << name;
    EXPECT_EQ(folder.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(folder.error().to_string().starts_with("'" + std::string(name) + "' cannot be"));
  }
}

TEST(EntryKey, FallsAsThePlaceRises) {
  EXPECT_EQ(entry_key(5), "commits/999999999994-5.json");
  EXPECT_EQ(entry_key(job::kSeqMax), "commits/000000000000-999999999999.json");
  for (const job::Seq seq : {1ULL, 9ULL, 10ULL, 999ULL, 1'000ULL, 123'456'789ULL}) {
    EXPECT_LT(entry_key(seq + 1), entry_key(seq));
    EXPECT_EQ(parse_entry_key(entry_key(seq)).value_or(0), seq);
    EXPECT_TRUE(store::check_key(entry_key(seq)));
  }
}

TEST(EntryKey, HasOneSpelling) {
  for (const std::string_view key :
       {"", "commits/", "commits/999999999994-5.jso", "commits/999999999994-5.json2",
        "commits/999999999994-05.json", "commits/999999999994-6.json", "commits/99999999994-5.json",
        "commits/0999999999994-5.json", "commit//999999999994-5.json",
        "commits/999999999999-0.json", "commits/999999999994-+5.json", "commits/999999999994-.json",
        "commits/000000000000-1000000000000.json", "commits/README"}) {
    EXPECT_FALSE(parse_entry_key(key)) << key;
  }
}

TEST(ObjectKeys, AreNamedByTheirHash) {
  const Sha256Digest name = sha256(as_bytes("x"));
  EXPECT_EQ(manifest_key(name), "manifests/" + name.hex());
  EXPECT_EQ(pack_key(name), "packs/" + name.hex());
  EXPECT_EQ(condemned_key(name), "condemned/" + name.hex());
}

}  // namespace
}  // namespace outlast::checkpoint
