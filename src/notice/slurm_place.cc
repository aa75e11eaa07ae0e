#include "notice/slurm_place.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/time.h"
#include "sys/environment.h"

namespace outlast::notice {
namespace {

std::optional<std::uint32_t> number_in(sys::Environment& environment, std::string_view name) {
  return parse_number<std::uint32_t>(environment.get(name).value_or(""));
}

}  // namespace

std::optional<SlurmPlace> slurm_place(sys::Environment& environment) {
  const auto job = number_in(environment, "SLURM_JOB_ID");
  if (!job) return std::nullopt;
  SlurmPlace place = {.job = fmt::format("{}", *job)};
  // The last task of an array has the number of the whole array: by that alone, all would be meant.
  const auto array = number_in(environment, "SLURM_ARRAY_JOB_ID");
  const auto task = number_in(environment, "SLURM_ARRAY_TASK_ID");
  if (array && task) place.job = fmt::format("{}_{}", *array, *task);
  place.restarts = number_in(environment, "SLURM_RESTART_COUNT").value_or(0);
  if (const auto ends = number_in(environment, "SLURM_JOB_END_TIME")) {
    place.ends = WallTime(std::chrono::seconds(*ends));
  }
  const auto text = [&](std::string_view name) { return environment.get(name).value_or(""); };
  place.facts = {.cloud = "slurm",
                 .region = text("SLURM_CLUSTER_NAME"),
                 .zone = text("SLURM_JOB_PARTITION"),
                 .instance = place.job,
                 .name = text("SLURMD_NODENAME"),
                 .account = text("SLURM_JOB_ACCOUNT"),
                 .tags = {{"slurm.job", place.job}}};
  return place;
}

std::string slurm_array_suffix(sys::Environment& environment) {
  const auto task = number_in(environment, "SLURM_ARRAY_TASK_ID");
  return task ? fmt::format("-{}", *task) : "";
}

}  // namespace outlast::notice
