// What is in checkpoints, and what changed between two.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "cli/testing/ckpt_session.h"
#include "cli/testing/command_runner.h"
#include "sys/file_system.h"

namespace outlast::cli {
namespace ckpt_diff_test {

using testing::CkptSession;
using testing::in_ckpt_session;
using testing::mentions_all;
using testing::Ran;

TEST(CkptDiff, NamesWhatChanged) {
  in_ckpt_session([](CkptSession& session) {
    std::vector<std::uint64_t> seqs;
    session.write("/t/frozen", std::string(5000, 'f'));
    for (const char* model : {"model 1", "model 2", "model 3"}) {
      session.write("/t/deep/model", model);
      seqs.push_back(session.save({"/t"}));
    }
    session.write("/t/new", "brand new");
    ASSERT_TRUE(session.world().files.remove_file("/t/frozen"));
    ASSERT_TRUE(session.world().files.set_mode("/t/deep/model", 0600));
    const std::uint64_t last = session.save({"/t"});
    const Ran differs = session.ckpt("diff");
    EXPECT_EQ(differs.exit_code, 0) << differs.err;
    EXPECT_EQ(differs.out,
              "mode      deep/model  0644 to 0600\n"
              "removed   frozen  4.9 KiB\n"
              "added     new  9 B\n");
    const std::string first = std::to_string(seqs[0]);
    EXPECT_EQ(session.ckpt("diff", {first, std::to_string(seqs[1])}).out,
              "changed   deep/model  7 B of 7 B\n");
    const Ran same = session.ckpt("diff", {std::to_string(last), std::to_string(last)});
    EXPECT_EQ(same.out, "");
    EXPECT_TRUE(mentions_all(same.err, {"have the same content"})) << same.err;
    const Json json = session.json("diff", {first, std::to_string(last)});
    ASSERT_EQ(json["differences"].size(), 3U) << json.dump(1);
    EXPECT_EQ(json["differences"][0]["change"], "changed");
    EXPECT_EQ(json["differences"][0]["after"]["mode"], "0600");
  });
}

// A safetensors file with these tensors of U8, one after the other.
std::string tensor_file(const std::vector<std::pair<std::string, std::string>>& tensors) {
  std::vector<checkpoint::TensorBytes> given;
  for (const auto& [name, bytes] : tensors) {
    given.push_back({.name = name,
                     .dtype = checkpoint::Dtype::kU8,
                     .shape = {bytes.size()},
                     .bytes = as_bytes(bytes)});
  }
  const auto plan = checkpoint::plan_safetensors(given, {}).value();
  std::string text(as_text(plan.header));
  for (const checkpoint::TensorBytes* tensor : plan.order) text += as_text(tensor->bytes);
  return text;
}

TEST(CkptDiff, NamesTheTensorsThatChanged) {
  in_ckpt_session([](CkptSession& session) {
    const std::string large(300'000, 'l');
    session.write("/t/model.safetensors", tensor_file({{"bias", "1234"},
                                                       {"gone", "x"},
                                                       {"large", large},
                                                       {"norm", "12"},
                                                       {"shape", "12345678"}}));
    session.save({"/t"});
    session.write("/t/model.safetensors", tensor_file({{"bias", "1294"},
                                                       {"come", "y"},
                                                       {"large", large},
                                                       {"norm", "12"},
                                                       {"shape", "1234567"}}));
    session.save({"/t"});
    const Ran differs = session.ckpt("diff");
    EXPECT_EQ(differs.exit_code, 0) << differs.err;
    EXPECT_TRUE(mentions_all(
        differs.out,
        {"changed   model.safetensors", "  changed   bias  U8 [4]", "  added     come  U8 [1]",
         "  removed   gone  U8 [1]", "  type      shape  U8 [8] to U8 [7]"}))
        << differs.out;
    EXPECT_FALSE(mentions_all(differs.out, {"large"})) << differs.out;
    EXPECT_FALSE(mentions_all(differs.out, {"norm"})) << differs.out;
    const Ran shown = session.ckpt("show", {"--tensors"});
    EXPECT_TRUE(mentions_all(shown.out, {"tensor", "300000", "U8 [300000]", "large"})) << shown.out;
    const Json json = session.json("show", {"--tensors"});
    EXPECT_EQ(json["items"][0]["tensors"].size(), 5U) << json.dump(1);
    EXPECT_FALSE(session.json("show")["items"][0].contains("tensors"));
  });
}

}  // namespace ckpt_diff_test
}  // namespace outlast::cli
