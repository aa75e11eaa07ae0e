#include "sys/posix_environment.h"

#include <malloc.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sys/environment.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

class PosixEnvironment : public Environment {
 public:
  PosixEnvironment() {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      variables_.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }

  std::optional<std::string> get(std::string_view name) override {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::pair<std::string, std::string>> all() override {
    return {variables_.begin(), variables_.end()};
  }

  std::string working_dir() override {
    const std::unique_ptr<char, decltype(&std::free)> path(::getcwd(nullptr, 0), &std::free);
    return path ? path.get() : ".";
  }

  std::string host_name() override {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
  }

  int processor_count() override {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    return std::max(1, CPU_COUNT(&allowed));
  }

  std::optional<double> clock_error_seconds() override {
    timex state{};
    if (::adjtimex(&state) == TIME_ERROR || (state.status & STA_UNSYNC) != 0) return std::nullopt;
    return static_cast<double>(state.maxerror) / 1e6;
  }

  std::uint64_t entropy() override {
    std::uint64_t seed = 0;
    const ssize_t n = retry_eintr([&] { return ::getrandom(&seed, sizeof seed, 0); });
    OUTLAST_CHECK(n == sizeof seed, "getrandom gave {} bytes", n);
    return seed;
  }

  void give_back_memory() override { (void)::malloc_trim(0); }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace

std::unique_ptr<Environment> make_posix_environment() {
  return std::make_unique<PosixEnvironment>();
}

}  // namespace outlast::sys
