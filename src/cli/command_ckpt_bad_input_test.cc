// What is wrong with a 'ckpt' command is said in one sentence, by the exit code that fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/testing/ckpt_session.h"
#include "cli/testing/command_runner.h"

namespace outlast::cli {
namespace ckpt_bad_input_test {

using testing::CkptSession;
using testing::in_ckpt_session;
using testing::mentions_all;
using testing::Ran;

using Words = std::vector<std::string>;

struct Mistake {
  Words words;
  int exit_code;
  Words mentioned;
};

void expect_refused(CkptSession& session, const Mistake& mistake) {
  const Ran ran = session.run(mistake.words);
  std::string line;
  for (const std::string& word : mistake.words) line += word + " ";
  EXPECT_EQ(ran.exit_code, mistake.exit_code) << line << "\n" << ran.err;
  EXPECT_TRUE(ran.err.starts_with("outlast: error: ")) << line << "\n" << ran.err;
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << line << "\n" << ran.err;
  EXPECT_TRUE(mentions_all(ran.err, mistake.mentioned)) << line << "\n" << ran.err;
  EXPECT_EQ(ran.out, "") << line;
}

Words at(const std::string& command, const Words& more) {
  Words words = {"ckpt", command, "--root", "/root", "--job", "j"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words kCommands = {"save",   "restore", "ls",  "show",  "diff",
                         "verify", "prune",   "pin", "export"};

// What a command needs besides a root and a job.
Words arguments_of(const std::string& command) {
  if (command == "save") return {"/t"};
  if (command == "restore" || command == "export") return {"/new"};
  if (command == "prune") return {"--keep-last", "1"};
  if (command == "pin") return {"1"};
  return {};
}

Words with(const std::string& command, Words options) {
  options.insert(options.begin(), {"ckpt", command});
  const Words more = arguments_of(command);
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST(CkptBadInput, EveryCommandNeedsARootAndAJob) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"/t"});
    session.write("/file", "f");
    for (const std::string& command : kCommands) {
      SCOPED_TRACE(command);
      expect_refused(session, {with(command, {"--job", "j"}), 2, {"needs --root URL"}});
      expect_refused(session, {with(command, {"--root", "/root"}), 2, {"needs --job NAME"}});
      expect_refused(session, {with(command, {"--root", "/root", "--job", "No/Good"}),
                               3,
                               {"'No/Good' cannot be the name of a job"}});
      expect_refused(session, {with(command, {"--root", "ftp://x", "--job", "j"}), 3, {"ftp://x"}});
      expect_refused(
          session,
          {with(command, {"--root", "/file", "--job", "j"}), 3, {"/file is a file", "--root"}});
      if (command == "save") continue;  // which makes what is not there
      expect_refused(session, {with(command, {"--root", "/nowhere", "--job", "j"}),
                               3,
                               {"there is no root /nowhere", "mounted"}});
      expect_refused(session, {with(command, {"--root", "/root", "--job", "k"}),
                               3,
                               {"there is no job 'k' in /root; this root has j"}});
      EXPECT_FALSE(session.exists("/nowhere"));
      EXPECT_FALSE(session.exists("/new"));
    }
  });
}

TEST(CkptBadInput, ARootWithoutJobs) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/root/something", "else");
    expect_refused(session, {at("ls", {}), 3, {"no job 'j' in /root", "has no jobs at all"}});
  });
}

TEST(CkptBadInput, ASaveIsRefusedBeforeAnythingIsDone) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.write("/u/t", "another t");
    for (const Mistake& mistake : std::vector<Mistake>{
             {at("save", {}), 2, {"needs PATH"}},
             {at("save", {"/missing"}), 3, {"/missing"}},
             {at("save", {"/t", "/missing"}), 3, {"/missing"}},
             {at("save", {"/t", "/u/t"}), 3, {"/u/t"}},
             {at("save", {"--step", "many", "/t"}), 2, {"--step", "'many'"}},
             {at("save", {"--step", "18446744073709551615", "/t"}), 2, {"the step"}},
             {at("save", {"--metric", "loss", "/t"}), 2, {"--metric loss", "NAME=VALUE"}},
             {at("save", {"--metric", "=1", "/t"}), 2, {"--metric =1", "NAME=VALUE"}},
             {at("save", {"--metric", "loss=", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "loss=low", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "loss=1x", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "loss=nan", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "loss=inf", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "loss=1e999", "/t"}), 2, {"finite number"}},
             {at("save", {"--metric", "a=1", "--metric", "a=2", "/t"}), 2, {"given before"}},
             {at("save", {"--metric", "\x1b=1", "/t"}), 2, {"metric", "not plain text"}},
             {at("save", {"--why", std::string(300, 'y'), "/t"}), 2, {"300 bytes"}},
             {at("save", {"--compression", "some", "/t"}), 2, {"auto, always, never"}},
         }) {
      expect_refused(session, mistake);
    }
    EXPECT_FALSE(session.exists("/root"));
  });
}

TEST(CkptBadInput, ARootInsideOfWhatIsSaved) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    const Words inside = {"ckpt", "save", "--root", "/t/deep/root", "--job", "j", "/t"};
    expect_refused(session, {inside, 3, {"the root /t/deep/root lies in what is to be saved"}});
    EXPECT_FALSE(session.exists("/t/deep"));
    session.save({"/t"});
    expect_refused(session, {at("save", {"/root"}), 3, {"lies in what is to be saved"}});
    expect_refused(session, {at("save", {"/"}), 3, {"lies in what is to be saved"}});
  });
}

TEST(CkptBadInput, AFolderThatWasOnlyHalfRestored) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.write("/t/.outlast-restoring", "");
    expect_refused(session, {at("save", {"/t"}), 3, {"a restore into /t has not ended"}});
  });
}

TEST(CkptBadInput, CheckpointsThatAreNotThere) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    const std::string first = std::to_string(session.save({"/t"}));
    expect_refused(session, {at("diff", {}), 3, {"only one checkpoint"}});
    const std::string second = std::to_string(session.save({"/t"}));
    const std::string both = "there are " + first + ", " + second;
    for (const Mistake& mistake : std::vector<Mistake>{
             {at("restore", {"--seq", "99", "/back"}), 3, {"no checkpoint 99", both}},
             {at("export", {"--seq", "99", "/back"}), 3, {"no checkpoint 99", both}},
             {at("show", {"--seq", "99"}), 3, {"no checkpoint 99", both}},
             {at("pin", {"99"}), 3, {"no checkpoint 99", both}},
             {at("pin", {"--unpin", "99"}), 3, {"no checkpoint 99", both}},
             {at("diff", {first, "99"}), 3, {"no checkpoint 99", both}},
             {at("diff", {first}), 2, {"two checkpoints"}},
             {at("diff", {first, "x"}), 2, {"SEQ2", "'x'"}},
             {at("diff", {first, second, "3"}), 2, {"one word too many"}},
             {at("show", {"--seq", "x"}), 2, {"--seq", "'x'"}},
             {at("pin", {}), 2, {"needs SEQ"}},
             {at("pin", {"newest"}), 2, {"SEQ", "'newest'"}},
         }) {
      expect_refused(session, mistake);
    }
    EXPECT_FALSE(session.exists("/back"));
  });
}

TEST(CkptBadInput, FoldersThatCannotBeUsed) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"/t"});
    session.write("/file", "f");
    for (const Mistake& mistake : std::vector<Mistake>{
             {at("restore", {}), 2, {"needs FOLDER"}},
             {at("restore", {"/file"}), 3, {"/file is a file"}},
             {at("export", {"/file"}), 3, {"/file is a file"}},
             {at("export", {"/t"}), 3, {"/t is not empty"}},
         }) {
      expect_refused(session, mistake);
    }
    EXPECT_EQ(session.read("/file"), "f");
    EXPECT_EQ(session.read("/t/a"), "a");
  });
}

TEST(CkptBadInput, APruneThatDoesNotSayWhatToKeep) {
  in_ckpt_session([](CkptSession& session) {
    session.write("/t/a", "a");
    session.save({"--metric", "loss=1", "/t"});
    for (const Mistake& mistake : std::vector<Mistake>{
             {at("prune", {}), 2, {"say what to keep"}},
             {at("prune", {"--keep-last", "0"}), 2, {"--keep-last must be at least 1"}},
             {at("prune", {"--keep-every", "0"}), 2, {"--keep-every must be at least 1"}},
             {at("prune", {"--keep-last", "-1"}), 2, {"--keep-last"}},
             {at("prune", {"--keep-best", ":max"}), 2, {"the name of a metric"}},
             {at("prune", {"--keep-best", "los"}), 3, {"has a metric 'los'; there is loss"}},
             {at("prune", {"--keep-last", "1", "--grace", "soon"}), 2, {"--grace"}},
             {at("prune", {"--keep-last", "1", "--grace", "5"}), 2, {"--grace"}},
         }) {
      expect_refused(session, mistake);
    }
  });
}

}  // namespace ckpt_bad_input_test
}  // namespace outlast::cli
