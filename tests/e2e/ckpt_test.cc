// Checkpoints with the real program and real files: what comes back is what was saved, whenever it
// is killed.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "program.h"

namespace outlast::e2e {
namespace ckpt {

std::string noise(std::uint64_t seed, std::size_t size) {
  Random random(seed);
  std::string text;
  while (text.size() < size) {
    const std::uint64_t draw = random.next();
    text.append(reinterpret_cast<const char*>(&draw), sizeof draw);
  }
  return text;
}

// A folder with a tree and a root in it.
class Place {
 public:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }

  Ended shell(const std::string& script) const {
    const Ended ended = run({"bash", "-c", "set -e; cd " + folder_.path() + "; " + script});
    EXPECT_EQ(ended.exit_code, 0) << script << "\n" << ended.err;
    return ended;
  }

  std::vector<std::string> words(const std::string& command,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"ckpt", command, "--root", path("root"), "--job", "j"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended ckpt(const std::string& command, const std::vector<std::string>& more = {}) const {
    return outlast(words(command, more));
  }
  // Killed after so many milliseconds: whether it was.
  bool killed(int milliseconds, const std::string& command,
              const std::vector<std::string>& more) const {
    std::string after(16, '\0');
    after.resize(static_cast<std::size_t>(
        std::snprintf(after.data(), after.size(), "%.3f", milliseconds / 1000.0)));
    std::vector<std::string> argv = {"timeout", "-s", "KILL", after, "outlast"};
    for (const std::string& word : words(command, more)) argv.push_back(word);
    const Ended ended = run(argv);
    EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 137) << ended.exit_code << ended.err;
    return ended.exit_code == 137;
  }

  // Names, kinds, modes, times, where symlinks lead to, how many names each has: and all contents.
  std::string tree(const std::string& name) const {
    return shell("cd " + name +
                 R"(; find . -mindepth 1 \( -type d -printf '%P d %m %T@\n' \)"
                 R"( -o -printf '%P %y %m %l %n %s\n' \) | sort;)"
                 R"( find . -type f -printf '%P %T@\n' | sort;)"
                 R"( find . -type f -print0 | sort -z | xargs -0 sha256sum)")
        .out;
  }

  // Everything that a tree can have, and a few MiB.
  void make_tree() {
    shell("mkdir -p t/deep/er t/empty t/closed");
    write("t/weights", noise(1, 6 << 20));
    write("t/deep/optimizer", noise(2, 3 << 20));
    write("t/deep/er/nothing", "");
    write("t/run.sh", "#!/bin/sh\n");
    write("t/a name\nwith a line", "odd");
    write("t/closed/read-only", "r");
    shell(
        "chmod 750 t/run.sh; ln -s deep/er t/link; ln -s /nowhere t/dangling;"
        "ln t/weights t/deep/same-weights; truncate -s 20M t/sparse; echo end >> t/sparse;"
        "touch -d '2001-02-03 04:05:06.789' t/deep/optimizer t/deep/er;"
        "chmod 400 t/closed/read-only; chmod 550 t/closed");
  }
  ~Place() { run({"chmod", "-R", "u+w", folder_.path()}); }

 private:
  TemporaryFolder folder_;
};

TEST(Ckpt, WhatIsRestoredIsWhatWasSaved) {
  Place place;
  place.make_tree();
  const Ended saved = place.ckpt("save", {"--step", "12", place.path("t")});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_EQ(saved.out.rfind("checkpoint 2: 29.0 MiB in 7 files, ", 0), 0U) << saved.out;
  const Ended restored = place.ckpt("restore", {place.path("back")});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  place.shell("diff -r --no-dereference t back");
  EXPECT_EQ(place.tree("back"), place.tree("t"));
  // Holes are no bytes on the disk.
  place.shell("test $(stat -c %b back/sparse) -lt 1000");
  EXPECT_EQ(place.ckpt("verify", {"--full"}).exit_code, 0);
  // Nothing has changed: nothing but a manifest is stored, and nothing is fetched.
  const auto again = parse_json(place.ckpt("save", {"--json", place.path("t")}).out);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)["same_bytes"], (*again)["bytes"]);
  EXPECT_LT((*again)["stored_bytes"], 10'000);
  const auto there = parse_json(place.ckpt("restore", {"--json", place.path("back")}).out);
  ASSERT_TRUE(there);
  EXPECT_EQ((*there)["bytes_fetched"], 0);
  EXPECT_EQ((*there)["files_changed"], 0);
  place.shell("rm -rf x; mkdir x");
  const Ended exported = place.ckpt("export", {place.path("x")});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(place.tree("x"), place.tree("t"));
}

TEST(Ckpt, ASaveThatIsKilledLeavesTheOneBefore) {
  Place place;
  place.make_tree();
  ASSERT_EQ(place.ckpt("save", {place.path("t")}).exit_code, 0);
  const std::string before = place.tree("t");
  place.write("t/weights", noise(3, 12 << 20));
  place.shell("rm t/link; echo more >> t/deep/optimizer");
  const std::string after = place.tree("t");
  int kills = 0;
  for (int milliseconds = 2;; milliseconds += 1 + milliseconds / 3) {
    if (!place.killed(milliseconds, "save", {place.path("t")})) break;
    ++kills;
    const Ended restored = place.ckpt("restore", {"--exact", place.path("back")});
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    // It may have been killed just after its commit, before it could tell.
    const std::string back = place.tree("back");
    EXPECT_TRUE(back == before || back == after) << "killed after " << milliseconds << " ms";
  }
  EXPECT_GT(kills, 0);
  ASSERT_EQ(place.ckpt("restore", {"--exact", place.path("back")}).exit_code, 0);
  EXPECT_EQ(place.tree("back"), after);
  EXPECT_EQ(place.ckpt("verify", {"--full"}).exit_code, 0);
}

TEST(Ckpt, ARestoreThatIsKilledIsNotTakenForAFinishedOne) {
  Place place;
  place.make_tree();
  ASSERT_EQ(place.ckpt("save", {place.path("t")}).exit_code, 0);
  place.shell("mkdir back; echo old > back/weights; echo mine > back/mine");
  int marked = 0;
  for (int milliseconds = 2;; milliseconds += 1 + milliseconds / 3) {
    if (!place.killed(milliseconds, "restore", {place.path("back")})) break;
    const bool has_mark = run({"test", "-e", place.path("back/.outlast-restoring")}).exit_code == 0;
    if (!has_mark) continue;
    ++marked;
    const Ended refused = place.ckpt("save", {place.path("back")});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("has not ended"), std::string::npos) << refused.err;
  }
  EXPECT_GT(marked, 0);
  place.shell("test ! -e back/.outlast-restoring; test $(cat back/mine) = mine; rm back/mine");
  EXPECT_EQ(place.tree("back"), place.tree("t"));
}

}  // namespace ckpt
}  // namespace outlast::e2e
