#include "sim/workloads/workload.h"

#include <fmt/core.h>

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/result.h"
#include "sim/workloads/agent_life_workload.h"
#include "sim/workloads/checkpoint_life_workload.h"
#include "sim/workloads/commit_race_workload.h"
#include "sim/workloads/notice_life_workload.h"
#include "sim/workloads/snapshot_life_workload.h"
#include "sim/workloads/store_race_workload.h"
#include "sim/workloads/wal_counter_workload.h"

namespace outlast::sim {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {wal_counter_workload(),  store_race_workload(),
                                            commit_race_workload(),  checkpoint_life_workload(),
                                            agent_life_workload(),   notice_life_workload(),
                                            snapshot_life_workload()};
  return all;
}

Result<const Workload*> find_workload(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Workload& workload : workloads()) {
    if (workload.name == name) return &workload;
    names.push_back(workload.name);
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("there is no workload '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace outlast::sim
