#include "tests/tidy/tidy.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tidy/planted.h"

namespace outlast::tidy {
namespace {

// The whole point.
TEST(Tidy, FindsNothingInThisTree) {
  const Tree tree = load_tree(OUTLAST_SOURCE_DIR);
  ASSERT_NE(tree.find("src/dependencies.txt"), nullptr);
  for (const std::string& line : findings_in(tree)) ADD_FAILURE() << line;
}

TEST(Tidy, FindsNothingInACleanTree) {
  EXPECT_EQ(findings_with({}), std::vector<std::string>{});
}

// A folder on the disk, gone at the end.
class TidyOnDisk : public testing::Test {
 protected:
  TidyOnDisk() {
    std::string name = testing::TempDir() + "tidy_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~TidyOnDisk() override { std::filesystem::remove_all(root_); }

  void plant(const std::string& path, const std::string& text) {
    const std::filesystem::path full = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
  }

  std::string root_;
};

TEST_F(TidyOnDisk, FindsASleepAndAWrongIncludeInJob) {
  for (const auto& [path, text] : clean_files_and({})) plant(path, text);
  EXPECT_EQ(findings_in(load_tree(root_)), std::vector<std::string>{});
  plant("src/job/spec.cc",
        "#include \"job/spec.h\"\n"
        "#include \"sys/clock.h\"\n"
        "void f() { std::this_thread::sleep_for(s); }\n");
  EXPECT_EQ(findings_in(load_tree(root_)),
            (std::vector<std::string>{
                "src/job/spec.cc:2: job may not include sys: see src/dependencies.txt "
                "[include-direction]",
                "src/job/spec.cc:3: 'this_thread' here: wait through sys::Clock or an Inbox "
                "[sleep]"}));
}

TEST_F(TidyOnDisk, SkipsWhatIsNotSource) {
  plant("build/dev/x.cc", "std::mutex m;\t");
  plant(".git/config", "\ta");
  plant("outlast-root/jobs/x", "\ta");
  plant("image.png", std::string("\0\t", 2));
  plant("docs/.note.txt.swp", "\t");
  const Tree tree = load_tree(root_);
  EXPECT_TRUE(tree.files.empty());
  EXPECT_TRUE(tree.paths.contains("image.png"));
  EXPECT_FALSE(tree.paths.contains("build"));
}

}  // namespace
}  // namespace outlast::tidy
