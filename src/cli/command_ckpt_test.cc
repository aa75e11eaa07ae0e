#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/tree_scan.h"
#include "cli/testing/ckpt_session.h"
#include "cli/testing/command_runner.h"
#include "store/directory_store.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {
namespace ckpt_test {

using testing::CkptSession;
using testing::in_ckpt_session;
using testing::mentions_all;
using testing::Ran;

using Seqs = std::vector<std::uint64_t>;

// Three checkpoints of /t, each with another text in it; their numbers.
Seqs save_three(CkptSession& session) {
  Seqs seqs;
  session.write("/t/frozen", std::string(5000, 'f'));
  for (int step = 1; step <= 3; ++step) {
    const std::string number = std::to_string(step);
    session.write("/t/deep/model", "model after step " + number);
    seqs.push_back(session.save({"--step", number, "--metric", "loss=0." + number, "--metric",
                                 "accuracy=" + number, "--why", "step " + number, "/t"}));
  }
  return seqs;
}

TEST(CkptSave, SaysWhatItSaved) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", std::string(3000, 'a'));
    session.write("/t/b", "b");
    const Ran saved = session.ckpt("save", {"/t"});
    EXPECT_EQ(saved.exit_code, 0) << saved.err;
    EXPECT_TRUE(saved.out.starts_with("checkpoint ")) << saved.out;
    EXPECT_TRUE(mentions_all(saved.out, {": 2.9 KiB in 2 files, ", " new, "})) << saved.out;
    EXPECT_EQ(saved.err, "");
  });
}

TEST(CkptSave, ShowsHowFarItIsOnATerminal) {
  testing::CommandRunner runner;
  runner.machine().console().terminal = true;
  runner.run_body([&](sys::World& world) {
    CkptSession session(world, runner.machine());
    session.write("/t/a", std::string(3000, 'a'));
    const Ran saved = session.ckpt("save", {"/t"});
    EXPECT_EQ(saved.exit_code, 0) << saved.err;
    const Ran restored = session.ckpt("restore", {"/back"});
    EXPECT_TRUE(mentions_all(restored.err, {"\r\x1b[K"})) << restored.err;
  });
}

TEST(CkptSave, TakesSeveralPathsByTheirNames) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/one/model", "m");
    session.write("/two/log.txt", "l");
    session.save({"/one", "/two/log.txt"});
    ASSERT_EQ(session.ckpt("restore", {"/back"}).exit_code, 0);
    EXPECT_EQ(session.read("/back/one/model"), "m");
    EXPECT_EQ(session.read("/back/log.txt"), "l");
  });
}

TEST(CkptRestore, GivesBackWhatWasSaved) {
  in_ckpt_session([](CkptSession& session) {
    sys::FileSystem& files = session.world().files;
    session.write("/t/deep/model", "weights");
    session.write("/t/run.sh", "#!/bin/sh\n");
    ASSERT_TRUE(files.set_mode("/t/run.sh", 0750));
    ASSERT_TRUE(files.make_dir("/t/empty"));
    ASSERT_TRUE(files.make_symlink("deep/model", "/t/latest"));
    ASSERT_TRUE(files.link("/t/deep/model", "/t/second"));
    const std::uint64_t seq = session.save({"--step", "7", "/t"});
    const Ran restored = session.ckpt("restore", {"/back"});
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    EXPECT_TRUE(mentions_all(restored.out, {"checkpoint " + std::to_string(seq) + " (step 7, ",
                                            ") restored: 17 B in ", "17 B fetched"}))
        << restored.out;
    EXPECT_EQ(session.names_in("/back"),
              (std::vector<std::string>{"deep", "empty", "latest", "run.sh", "second"}));
    EXPECT_EQ(session.read("/back/deep/model"), "weights");
    EXPECT_EQ(files.read_symlink("/back/latest").value_or(""), "deep/model");
    EXPECT_EQ(files.stat("/back/run.sh")->mode, 0750U);
    EXPECT_EQ(files.stat("/back/second")->inode, files.stat("/back/deep/model")->inode);
  });
}

TEST(CkptRestore, WritesOnlyWhatDiffersAndRemovesOnlyIfAsked) {
  in_ckpt_session([](CkptSession& session) {
    save_three(session);
    ASSERT_EQ(session.ckpt("restore", {"/back"}).exit_code, 0);
    session.write("/back/deep/model", "spoiled by somebody");
    session.write("/back/mine", "m");
    const Json again = session.json("restore", {"/back"});
    EXPECT_EQ(again["files_changed"], 1);
    EXPECT_EQ(again["bytes_fetched"], 18);
    EXPECT_EQ(again["left_alone"], 1);
    EXPECT_EQ(session.read("/back/deep/model"), "model after step 3");
    EXPECT_TRUE(session.exists("/back/mine"));
    EXPECT_EQ(session.json("restore", {"--exact", "/back"})["removed"], 1);
    EXPECT_FALSE(session.exists("/back/mine"));
  });
}

TEST(CkptRestore, TakesTheOneThatIsAskedFor) {
  in_ckpt_session([](CkptSession& session) {
    const Seqs seqs = save_three(session);
    const Json first = session.json("restore", {"--seq", std::to_string(seqs[0]), "/back"});
    EXPECT_EQ(first["checkpoint"]["step"], 1);
    EXPECT_EQ(session.read("/back/deep/model"), "model after step 1");
  });
}

TEST(CkptRestore, PassesOverADamagedOneAndSaysSoEvenIfQuiet) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/model", "one");
    const std::uint64_t first = session.save({"/t"});
    const std::vector<std::string> before = session.objects("packs");
    session.write("/t/model", "two");
    const std::uint64_t second = session.save({"/t"});
    for (const std::string& pack : session.objects("packs")) {
      if (std::ranges::find(before, pack) == before.end()) session.damage(pack);
    }
    const Ran restored = session.ckpt("restore", {"--quiet", "/back"});
    EXPECT_EQ(restored.exit_code, 0) << restored.err;
    EXPECT_TRUE(mentions_all(
        restored.err, {"outlast: warning: checkpoint " + std::to_string(second) +
                       " is damaged, checkpoint " + std::to_string(first) + " is used instead: "}))
        << restored.err;
    EXPECT_EQ(session.read("/back/model"), "one");
    // The one that was asked for is not replaced by another.
    const Ran asked = session.ckpt("restore", {"--seq", std::to_string(second), "/other"});
    EXPECT_EQ(asked.exit_code, 1);
    EXPECT_TRUE(mentions_all(asked.err, {"restore checkpoint " + std::to_string(second), "pack"}))
        << asked.err;
  });
}

TEST(CkptRestore, SaysWhenNoneCanBeUsed) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/model", "one");
    const std::uint64_t seq = session.save({"/t"});
    for (const std::string& manifest : session.objects("manifests")) session.damage(manifest);
    const Ran restored = session.ckpt("restore", {"/back"});
    EXPECT_EQ(restored.exit_code, 1);
    EXPECT_TRUE(mentions_all(restored.err,
                             {"checkpoint " + std::to_string(seq) + " is damaged, and none before",
                              "outlast ckpt verify"}))
        << restored.err;
  });
}

TEST(CkptLs, ShowsEachCheckpointNewestLast) {
  in_ckpt_session([](CkptSession& session) {
    const Seqs seqs = save_three(session);
    ASSERT_EQ(session.ckpt("pin", {std::to_string(seqs[1])}).exit_code, 0);
    const Ran listed = session.ckpt("ls");
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_TRUE(mentions_all(
        listed.out, {"seq  step  time", "step 1", "4.9 KiB", "accuracy=3 loss=0.3", "pinned"}))
        << listed.out;
    EXPECT_LT(listed.out.find("step 1"), listed.out.find("step 3")) << listed.out;
    EXPECT_TRUE(mentions_all(listed.err, {"3 checkpoints, "})) << listed.err;
    const Json json = session.json("ls");
    ASSERT_EQ(json["checkpoints"].size(), 3U);
    const Json& second = json["checkpoints"][1];
    EXPECT_EQ(second["seq"], seqs[1]);
    EXPECT_EQ(second["step"], 2);
    EXPECT_EQ(second["pinned"], true);
    EXPECT_EQ(second["metrics"]["loss"], 0.2);
    EXPECT_EQ(second["why"], "step 2");
    EXPECT_EQ(second["bytes"], 5018);
  });
}

TEST(CkptLs, WarnsOfADamagedEntry) {
  in_ckpt_session([](CkptSession& session) {
    const Seqs seqs = save_three(session);
    for (const std::string& entry : session.objects("commits")) {
      if (entry.ends_with("-" + std::to_string(seqs[1]) + ".json")) session.damage(entry);
    }
    const Ran listed = session.ckpt("ls", {"--quiet"});
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_TRUE(mentions_all(listed.err, {"warning: entry " + std::to_string(seqs[1])}))
        << listed.err;
    EXPECT_TRUE(mentions_all(listed.out, {"step 1", "step 3"})) << listed.out;
    EXPECT_FALSE(mentions_all(listed.out, {"step 2"})) << listed.out;
  });
}

TEST(CkptShow, ListsWhatIsInACheckpoint) {
  in_ckpt_session([](CkptSession& session) {
    const Seqs seqs = save_three(session);
    ASSERT_TRUE(session.world().files.make_symlink("deep", "/t/link"));
    const std::uint64_t newest = session.save({"/t"});
    const Ran shown = session.ckpt("show");
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_TRUE(
        mentions_all(shown.out, {"checkpoint " + std::to_string(newest) + " of job 'j' in /root\n",
                                 "deep/model", "frozen", "link -> deep", "5000"}))
        << shown.out;
    const Json first = session.json("show", {"--seq", std::to_string(seqs[0])});
    EXPECT_EQ(first["step"], 1);
    ASSERT_EQ(first["items"].size(), 3U) << first.dump(1);
    EXPECT_EQ(first["items"][1]["path"], "deep/model");
    EXPECT_EQ(first["items"][1]["kind"], "file");
    EXPECT_EQ(first["items"][1]["mode"], "0644");
  });
}

TEST(CkptVerify, TellsGoodFromDamaged) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/model", "one");
    const std::uint64_t first = session.save({"/t"});
    const std::vector<std::string> before = session.objects("packs");
    session.write("/t/model", "two");
    const std::uint64_t second = session.save({"/t"});
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, std::vector<std::string>{"--full"}}) {
      const Ran good = session.ckpt("verify", words);
      EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
      EXPECT_TRUE(mentions_all(good.out, {"2 checkpoints are good"})) << good.out;
    }
    for (const std::string& pack : session.objects("packs")) {
      if (std::ranges::find(before, pack) == before.end()) session.damage(pack);
    }
    const Ran damaged = session.ckpt("verify", {"--full"});
    EXPECT_EQ(damaged.exit_code, 1);
    EXPECT_TRUE(mentions_all(
        damaged.out,
        {"damage  /root/jobs/j/packs/", "1 checkpoint is good: " + std::to_string(first),
         "1 checkpoint is damaged: " + std::to_string(second) + "; a restore takes " +
             std::to_string(first) + " instead"}))
        << damaged.out;
    const Ran json = session.ckpt("verify", {"--full", "--json"});
    EXPECT_EQ(json.exit_code, 1);
    EXPECT_EQ(parse_json(json.out).value_or(Json())["damaged"], Json({second})) << json.out;
  });
}

TEST(CkptPrune, KeepsWhatItIsTold) {
  in_ckpt_session([](CkptSession& session) {
    const Seqs seqs = save_three(session);
    const std::string first = std::to_string(seqs[0]);
    const std::string third = std::to_string(seqs[2]);
    const Ran dry = session.ckpt("prune", {"--keep-best", "loss", "--dry-run"});
    EXPECT_EQ(dry.exit_code, 0) << dry.err;
    EXPECT_TRUE(mentions_all(dry.out, {"would keep: " + first + " and " + third,
                                       "would drop: " + std::to_string(seqs[1])}))
        << dry.out;
    EXPECT_EQ(session.json("ls")["checkpoints"].size(), 3U);
    const Json highest = session.json("prune", {"--keep-best", "loss:max", "--dry-run"});
    EXPECT_EQ(highest["kept"], Json({seqs[2]}));
    const Json every = session.json("prune", {"--keep-every", "2", "--dry-run"});
    EXPECT_EQ(every["kept"], Json({seqs[1], seqs[2]}));
    ASSERT_EQ(session.ckpt("pin", {first}).exit_code, 0);
    const Json pruned = session.json("prune", {"--keep-last", "1", "--grace", "0s"});
    EXPECT_EQ(pruned["kept"], Json({seqs[0], seqs[2]}));
    EXPECT_EQ(pruned["dropped"], Json({seqs[1]}));
    EXPECT_GT(pruned["objects_condemned"], 0);
    EXPECT_EQ(session.json("ls")["checkpoints"].size(), 2U);
    ASSERT_EQ(session.ckpt("restore", {"--seq", first, "/back"}).exit_code, 0);
    EXPECT_EQ(session.read("/back/deep/model"), "model after step 1");
    EXPECT_EQ(session.ckpt("verify", {"--full"}).exit_code, 0);
  });
}

TEST(CkptPin, CanBeUndoneAndWritesNothingTwice) {
  in_ckpt_session([](CkptSession& session) {
    const std::string seq = std::to_string(save_three(session)[0]);
    EXPECT_EQ(session.json("pin", {seq})["changed"], true);
    const std::size_t entries = session.objects("commits").size();
    EXPECT_EQ(session.json("pin", {seq})["changed"], false);
    EXPECT_EQ(session.objects("commits").size(), entries);
    EXPECT_EQ(session.json("pin", {"--unpin", seq})["pinned"], false);
    EXPECT_EQ(session.json("ls")["checkpoints"][0]["pinned"], false);
    EXPECT_EQ(session.ckpt("pin", {"--unpin", seq}).err, "checkpoint " + seq + " was not pinned\n");
  });
}

TEST(CkptExport, WritesFilesAndRegions) {
  in_ckpt_session([](CkptSession& session) {
    sys::World& world = session.world();
    session.write("/t/deep/config", "c");
    store::DirectoryStore root(
        {.files = world.files, .clock = world.clock, .random = world.random.fork()}, "/root");
    ASSERT_TRUE(world.files.make_dir("/root"));
    const auto job = checkpoint::Checkpoints::open({.root = root,
                                                    .files = world.files,
                                                    .threads = world.threads,
                                                    .clock = world.clock,
                                                    .random = world.random,
                                                    .writer = "test"},
                                                   "j", {});
    ASSERT_TRUE(job) << job.error().to_string();
    const std::string memory = "optimizer state";
    checkpoint::State state;
    state.files = checkpoint::scan_tree(world.files, {"/t"}, {}).value().found;
    state.regions = {{.name = "deep/optimizer/m", .bytes = as_bytes(memory)}};
    ASSERT_TRUE((*job)->save(state, {}, {}));
    const Ran exported = session.ckpt("export", {"/plain"});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_TRUE(mentions_all(exported.out, {"exported: 16 B in 2 files"})) << exported.out;
    EXPECT_EQ(session.read("/plain/deep/optimizer/m"), memory);
    EXPECT_EQ(session.read("/plain/deep/config"), "c");
    ASSERT_EQ(session.ckpt("restore", {"/back"}).exit_code, 0);
    EXPECT_EQ(session.names_in("/back/deep"), std::vector<std::string>{"config"});
    const Json shown = session.json("show");
    EXPECT_EQ(shown["items"][2]["kind"], "region") << shown.dump(1);
  });
}

}  // namespace ckpt_test
}  // namespace outlast::cli
