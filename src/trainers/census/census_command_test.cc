#include "trainers/census/census_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/run.h"
#include "sys/console.h"
#include "sys/posix_world.h"
#include "sys/world.h"

namespace outlast::trainers {
namespace {

// Keeps what is said.
class KeptConsole final : public sys::Console {
 public:
  void out(std::string_view text) override { out_text += text; }
  void err(std::string_view text) override { err_text += text; }
  Result<void> out_status() override { return {}; }
  bool out_is_terminal() override { return false; }
  bool err_is_terminal() override { return false; }
  int columns() override { return 80; }

  std::string out_text;
  std::string err_text;
};

struct CensusRun {
  int exit_code = 0;
  std::string out;
  std::string err;

  // What follows this word at the beginning of a line.
  std::string after(const std::string& word) const {
    const std::size_t at = ("\n" + out).find("\n" + word);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + word.size();
    return out.substr(begin, out.find('\n', begin) - begin);
  }
};

// The real world, since XGBoost and the SDK know no other; the agent is not there.
class CensusCommandTest : public ::testing::Test {
 protected:
  CensusCommandTest() { std::filesystem::create_directory(folder_); }
  ~CensusCommandTest() override { std::filesystem::remove_all(folder_); }

  CensusRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "census");
    KeptConsole console;
    sys::World world = real_.world();
    sys::World kept{.clock = world.clock,
                    .threads = world.threads,
                    .files = world.files,
                    .file_watches = world.file_watches,
                    .processes = world.processes,
                    .process_families = world.process_families,
                    .own_signals = world.own_signals,
                    .environment = world.environment,
                    .console = console,
                    .http = world.http,
                    .http_servers = world.http_servers,
                    .local_sockets = world.local_sockets,
                    .shared_memories = world.shared_memories,
                    .random = world.random};
    const cli::Catalog catalog(
        {.name = "outlast-train", .tagline = "trains", .typical_command = "census"}, {},
        {census_command()});
    const int code = static_cast<int>(cli::run(catalog, arguments, kept));
    return {.exit_code = code, .out = console.out_text, .err = console.err_text};
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Few people, in files as the real ones.
  std::string write_people(std::size_t count) {
    const std::string data = path("people");
    std::filesystem::create_directory(data);
    Random random(4);
    for (const std::string name : {"adult.data", "adult.test"}) {
      std::ofstream file(data + "/" + name);
      if (name == "adult.test") file << "|1x3 Cross validator\n";
      for (std::size_t i = 0; i < count; ++i) {
        const auto age = random.between(17, 80);
        const auto hours = random.between(10, 60);
        file << age << ", " << (random.chance(0.1) ? "?" : "Private") << ", "
             << random.between(1000, 90000)
             << ", HS-grad, 9, Never-married, Sales, Husband, White, "
             << (random.chance(0.5) ? "Male" : "Female") << ", 0, 0, " << hours << ", Cuba, "
             << (age + hours > 85 ? ">50K" : "<=50K") << (name == "adult.test" ? ".\n" : "\n");
      }
    }
    return data;
  }

  sys::RealWorld real_;
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("outlast-census-" + make_token(real_.world().random, 12));
};

// The file of the newest snapshot is removed: as if the machine had ended before it was written.
std::size_t forget_newest(const std::string& checkpoints) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) std::filesystem::remove(files.back());
  return files.size();
}

TEST_F(CensusCommandTest, ASearchThatLostItsLastConfigurationsEndsWithTheSameModel) {
  const std::string data = write_people(120);
  const std::vector<std::string> words = {"--data", data, "--search", "4", "--folds", "2"};
  const auto with = [&](const std::string& job, const std::string& threads) {
    std::vector<std::string> all = words;
    for (const std::string& more :
         {std::string("--job-dir"), path(job), std::string("--threads"), threads}) {
      all.push_back(more);
    }
    return all;
  };
  const CensusRun whole = run(with("whole", "1"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const CensusRun first = run(with("broken", "3"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_GT(forget_newest(path("broken/checkpoints")), 1U);
  std::filesystem::remove(path("broken/model.json"));
  std::filesystem::remove(path("broken/metrics.jsonl"));
  const CensusRun resumed = run(with("broken", "2"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming: "), std::string::npos) << resumed.err;
  EXPECT_EQ(resumed.err.find("resuming: 4 of 4"), std::string::npos) << resumed.err;

  EXPECT_EQ(resumed.after("best parameters"), whole.after("best parameters"));
  EXPECT_EQ(resumed.after("result"), whole.after("result"));
  EXPECT_NE(whole.after("result"), "");
  EXPECT_EQ(content(path("broken/model.json")), content(path("whole/model.json")));
  EXPECT_EQ(content(path("broken/metrics.jsonl")), content(path("whole/metrics.jsonl")));
  EXPECT_EQ(content(path("broken/plot.svg")), content(path("whole/plot.svg")));
  EXPECT_NE(content(path("whole/plot.svg")).find("best so far"), std::string::npos);
}

TEST_F(CensusCommandTest, ATrainingThatLostItsLastTreesEndsWithTheSameModel) {
  const auto words = [&](const std::string& job) {
    return std::vector<std::string>{"--job-dir",          path(job), "--trees",      "11",
                                    "--checkpoint-steps", "5",       "--eval-steps", "3"};
  };
  const CensusRun whole = run(words("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_NE(whole.err.find("training on made-up people"), std::string::npos) << whole.err;
  ASSERT_EQ(run(words("broken")).exit_code, 0);
  ASSERT_GT(forget_newest(path("broken/checkpoints")), 1U);
  const CensusRun resumed = run(words("broken"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming from tree 10 of 11"), std::string::npos) << resumed.err;
  EXPECT_EQ(resumed.after("result"), whole.after("result"));
  EXPECT_EQ(content(path("broken/model.json")), content(path("whole/model.json")));
  const std::string metrics = content(path("whole/metrics.jsonl"));
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 4) << metrics;  // 3, 6, 9 and 11
  EXPECT_NE(metrics.find(R"("test_accuracy":0.)"), std::string::npos) << metrics;
  EXPECT_EQ(content(path("broken/metrics.jsonl")), metrics);
  EXPECT_EQ(content(path("broken/plot.svg")), content(path("whole/plot.svg")));
  EXPECT_NE(content(path("whole/plot.svg")).find(">trees<"), std::string::npos);
}

TEST_F(CensusCommandTest, RefusesToGoOnWithOtherHyperParametersAndSaysBoth) {
  const std::vector<std::string> words = {"--job-dir", path("job"), "--trees", "3"};
  ASSERT_EQ(run(words).exit_code, 0);
  std::vector<std::string> other = words;
  other.insert(other.end(), {"--depth", "4"});
  const CensusRun refused = run(other);
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_NE(refused.err.find("--depth was 5 and is 4 now"), std::string::npos) << refused.err;
}

TEST_F(CensusCommandTest, EvaluatesAndPredictsWithWhatWasTrained) {
  const std::vector<std::string> words = {"--job-dir", path("job"), "--model-output-path",
                                          path("new/m.ubj")};
  std::vector<std::string> train = words;
  train.insert(train.end(), {"--trees", "20"});
  const CensusRun trained = run(train);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  std::vector<std::string> evaluate = words;
  evaluate.insert(evaluate.end(), {"--mode", "evaluate"});
  const CensusRun evaluated = run(evaluate);
  EXPECT_EQ(evaluated.after("test accuracy ").substr(0, 24),
            trained.after("test accuracy ").substr(0, 24));
  EXPECT_NE(evaluated.out.find("(2000 people)"), std::string::npos) << evaluated.out;
  evaluate.back() = "predict";
  const CensusRun predicted = run(evaluate);
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 2000);
  EXPECT_EQ(predicted.out.substr(0, 2), "1\t");
}

TEST_F(CensusCommandTest, SaysWhatIsMissingOrWrong) {
  const auto says = [&](const std::vector<std::string>& words, const std::string& text) {
    const CensusRun failed = run(words);
    EXPECT_NE(failed.exit_code, 0);
    EXPECT_NE(failed.err.find(text), std::string::npos) << failed.err;
  };
  std::filesystem::create_directory(path("empty"));
  says({"--job-dir", path("job"), "--data", path("empty")}, "--download fetches");
  says({"--job-dir", path("job"), "--mode", "evaluate"}, "there is no model");
  says({"--job-dir", path("job"), "--search", "0"}, "--search must be from 1");
  says({"--job-dir", path("job"), "--eval-steps", "0"}, "--eval-steps must be from 1");
  says({"--job-dir", path("job"), "--search", "3", "--cv-iterations", "4"}, "two names of one");
  says({"--job-dir", path("job"), "--search", "3", "--depth", "4"}, "--depth has no effect");
  says({"--job-dir", path("job"), "--learning-rate", "0.125"}, "in steps of 0.01");
  std::ofstream(path("no.json")) << R"({"learner":{}})";
  says({"--mode", "evaluate", "--model-output-path", path("no.json")}, "no.json");
}

// With the real people, where they are.
TEST_F(CensusCommandTest, LearnsFromTheRealCensus) {
  const char* const data = std::getenv("OUTLAST_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "OUTLAST_TEST_DATA names no folder with adult/ in it";
  const CensusRun trained =
      run({"--data", std::string(data) + "/adult", "--job-dir", path("job"), "--search", "2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_GE(trained.after("test accuracy ").substr(0, 6), "0.8600");
}

}  // namespace
}  // namespace outlast::trainers
