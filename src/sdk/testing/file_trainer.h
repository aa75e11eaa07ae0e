#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/snapshots.h"
#include "sdk/testing/fake_agent.h"

namespace outlast {

// A trainer without outlast around it.
struct FileTrainer {
  std::vector<float> weights = std::vector<float>(1'000'000);
  std::uint64_t seen = 0;
  std::string blob;
  Snapshots snapshots;

  explicit FileTrainer(const SnapshotOptions& options) : snapshots(options) {
    snapshots.add("weights", weights.data(), weights.size());
    snapshots.add_value("seen", &seen);
    snapshots.add_blob(
        "blob", 10, [this] { return blob; }, [this](std::string_view bytes) { blob = bytes; });
  }
  void fill(std::uint64_t step) {
    weights.assign(weights.size(), static_cast<float>(step));
    seen = step;
    blob = std::to_string(step);
  }
  bool is_of(std::uint64_t step) const {
    return weights == std::vector<float>(weights.size(), static_cast<float>(step)) &&
           seen == step && blob == std::to_string(step);
  }
};

inline std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".lock")) names.insert(name);
  }
  return names;
}

class FileSnapshotsTest : public ::testing::Test {
 protected:
  SnapshotOptions options(std::uint32_t rank = 0, std::uint32_t ranks = 1) const {
    return {.rank = rank, .ranks = ranks, .folder = folder()};
  }
  std::string folder() const { return temp_.path() + "/a/b"; }
  std::string file(const std::string& name) const { return folder() + "/" + name; }

 private:
  sdk::TestFolder temp_;
};

}  // namespace outlast
