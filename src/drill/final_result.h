#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/report.h"
#include "sys/call_context.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

// What a job has ended with: the files of its last checkpoint, and what it put into its output.
namespace outlast::drill {

struct FinalResult {
  // What is in each file, as a text that is equal for equal content. Those of the output are named
  // "output/…".
  std::map<std::string, std::string> files = {};
  trainer_files::TreeListing listing = {};  // of the checkpoint
};

// Of a job in a root that is a folder. kNotFound if it has no checkpoint.
Result<FinalResult> load_result(sys::World& world, const std::string& root, const std::string& job,
                                const sys::CallContext& ctx);

// Compares what both have ended with. A trainer that saved once more, when it was asked to, has
// states with numbers that the other one lacks: as long as both have a later one these do not
// count. Pure.
Comparison compare_results(const FinalResult& undisturbed, const FinalResult& disturbed,
                           trainer_files::Recognise recognise);

// The first step at which the disturbed run printed other values, by the life that did it last.
// What differs between two undisturbed runs, too, is not looked at.
std::optional<std::uint64_t> first_other_step(const std::vector<LifeRecord>& undisturbed,
                                              const std::vector<LifeRecord>& once_more,
                                              const std::vector<LifeRecord>& disturbed,
                                              const StepScale& scale);

}  // namespace outlast::drill
