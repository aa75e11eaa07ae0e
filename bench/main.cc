// outlast-bench [NAME…]: measures how the parts compare with their baselines.

#include <string>
#include <vector>

#include "bench/harness.h"

int main(int argc, char** argv) {
  outlast::bench::Cases cases;
  outlast::bench::add_hash_cases(cases);
  outlast::bench::add_job_cases(cases);
  outlast::bench::add_sim_cases(cases);
  return outlast::bench::run_cases(cases, std::vector<std::string>(argv + 1, argv + argc));
}
