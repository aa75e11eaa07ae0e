#include "drill/final_result.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

namespace outlast::drill {
namespace {

FinalResult result(const std::map<std::string, std::string>& files) {
  std::vector<trainer_files::ListedEntry> entries;
  for (const auto& [path, content] : files) {
    if (!path.starts_with("output/")) entries.push_back({.path = path, .size = content.size()});
  }
  return {.files = files, .listing = trainer_files::TreeListing("", std::move(entries))};
}

Comparison compared(const std::map<std::string, std::string>& a,
                    const std::map<std::string, std::string>& b) {
  return compare_results(result(a), result(b), trainer_files::Recognise::kLayouts);
}

TEST(CompareResults, EqualFilesAreIdentical) {
  const Comparison same = compared({{"last.pt", "1"}, {"output/model", "2"}},
                                   {{"last.pt", "1"}, {"output/model", "2"}});
  EXPECT_TRUE(same.is_identical);
  EXPECT_EQ(same.files, 2U);
}

TEST(CompareResults, DifferencesAreNamed) {
  const Comparison other = compared({{"last.pt", "1"}, {"only.pt", "1"}, {"output/model", "2"}},
                                    {{"last.pt", "2"}, {"output/model", "2"}, {"new.pt", "1"}});
  EXPECT_FALSE(other.is_identical);
  EXPECT_EQ(other.differences,
            (std::vector<std::string>{"last.pt differs", "only.pt is only in the undisturbed run",
                                      "new.pt is only in the disturbed run"}));
}

TEST(CompareResults, AStateThatOnlyOneOfThemSavedOnItsWayDoesNotCount) {
  const Comparison same = compared({{"checkpoint_10.pt", "a"}, {"checkpoint_20.pt", "b"}},
                                   {{"checkpoint_17.pt", "c"}, {"checkpoint_20.pt", "b"}});
  EXPECT_TRUE(same.is_identical);
  EXPECT_EQ(same.files, 1U);
  // Unless it is the last one.
  EXPECT_FALSE(compared({{"checkpoint_10.pt", "a"}}, {{"checkpoint_17.pt", "c"}}).is_identical);
}

std::vector<LifeRecord> run_with(const std::vector<double>& losses, double rate) {
  std::vector<LifeRecord> run(1);
  std::uint64_t step = 0;
  for (const double loss : losses) {
    run[0].samples.push_back({.step = ++step, .metrics = {{"loss", loss}, {"time", rate * loss}}});
  }
  return run;
}

TEST(FirstOtherStep, IsWhereValuesPartThatUsuallyDoNot) {
  const auto one = run_with({5, 4, 3, 2}, 1);
  const auto again = run_with({5, 4, 3, 2}, 2);
  const auto shifted = run_with({5, 4, 3.5, 2}, 3);
  const StepScale scale = find_scale(std::vector{&one[0].samples});
  EXPECT_EQ(first_other_step(one, again, shifted, scale), 3U);
  EXPECT_FALSE(first_other_step(one, again, run_with({5, 4, 3, 2}, 4), scale));
}

}  // namespace
}  // namespace outlast::drill
