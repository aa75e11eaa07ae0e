#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "sys/console.h"
#include "sys/environment.h"

namespace outlast::sim {

// An environment that is whatever the test says. Also useful without a kernel: it never waits.
class SimEnvironment : public sys::Environment {
 public:
  explicit SimEnvironment(std::string host = "sim", std::uint64_t seed = 1)
      : host_(std::move(host)), random_(seed) {}

  std::map<std::string, std::string, std::less<>> variables;
  int processors = 2;
  std::optional<double> clock_error = 0.001;

  std::optional<std::string> get(std::string_view name) override {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::pair<std::string, std::string>> all() override {
    return {variables.begin(), variables.end()};
  }
  std::string working_dir() override { return "/"; }
  std::string host_name() override { return host_; }
  int processor_count() override { return processors; }
  std::optional<double> clock_error_seconds() override { return clock_error; }
  void give_back_memory() override {}
  std::uint64_t entropy() override { return random_.next(); }

 private:
  std::string host_;
  Random random_;
};

// A console that remembers what was written, and never is a terminal unless told so.
class SimConsole : public sys::Console {
 public:
  std::string out_text;
  std::string err_text;
  bool terminal = false;
  Result<void> status;

  // Asked before every text, on a simulated machine: false if it is gone.
  std::function<bool()> enter;

  void out(std::string_view text) override {
    if (!enter || enter()) out_text += text;
  }
  void err(std::string_view text) override {
    if (!enter || enter()) err_text += text;
  }
  Result<void> out_status() override { return status; }
  bool out_is_terminal() override { return terminal; }
  bool err_is_terminal() override { return terminal; }
  int columns() override { return 80; }
};

}  // namespace outlast::sim
