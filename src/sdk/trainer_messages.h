#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What a trainer tells the agent, as docs/trainer_contract.md says.
namespace outlast::sdk {

struct Progress {
  std::uint64_t step = 0;
  std::optional<std::uint64_t> total = {};
  std::optional<double> epoch = {};  // left out unless finite
};

std::string progress_message(const Progress& progress);

// As many as it takes; none if there is no finite value with a name in UTF-8.
std::vector<std::string> metrics_messages(const std::map<std::string, double>& values);

// `stall`: seconds for which the trainer stood still.
std::string saved_message(double stall);

inline constexpr const char* kDoneMessage = R"({"type":"done"})";

}  // namespace outlast::sdk
