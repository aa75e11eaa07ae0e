#pragma once

#include <functional>
#include <string>
#include <vector>

// Benchmarks that print ratios. A number of seconds says something about one machine on one day;
// how a thing compares with a named baseline that ran beside it says something about the code.
//
// To add one: a function `void add_…(Cases&)` in a .cc of this folder, called in main.cc.
namespace outlast::bench {

// One comparison. `run` and `baseline` do the same amount of work, at least a millisecond of it,
// each time they are called; what they need is set up before, and owned by them.
struct Case {
  std::string name;           // as given on the command line: "crc32c-4k"
  std::string what;           // "crc32c(), 4 KiB at a time"
  std::string baseline_name;  // "one table look-up for each byte"
  double bytes = 0;           // that one call of `run` gets through; 0 if bytes are not the point
  std::function<void()> run;
  std::function<void()> baseline;
};
using Cases = std::vector<Case>;

// Keeps the compiler from removing the computation of `value`.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

// SHA-256 and CRC32C.
void add_hash_cases(Cases& cases);
// Reading a job file.
void add_job_cases(Cases& cases);
// Switching between simulated threads.
void add_sim_cases(Cases& cases);

// Runs the cases whose names are given (all of them if none is), and prints a table to standard
// output; progress goes to standard error when that is a terminal. Returns the exit code: 2 for a
// name that is not there, with the list of those that are.
int run_cases(const Cases& cases, const std::vector<std::string>& names);

}  // namespace outlast::bench
