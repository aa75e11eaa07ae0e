#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/testing/fake_http.h"
#include "sim/sim_surroundings.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"
#include "sys/http_server.h"
#include "sys/local_socket.h"
#include "sys/own_signals.h"
#include "sys/posix_environment.h"
#include "sys/posix_file_system.h"
#include "sys/posix_file_watch.h"
#include "sys/posix_local_socket.h"
#include "sys/posix_own_signals.h"
#include "sys/posix_process_family.h"
#include "sys/posix_shared_memory.h"
#include "sys/posix_threads.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/shared_memory.h"
#include "sys/threads.h"
#include "sys/world.h"

// A world without a kernel, for what asks the environment, files, programs and HTTP servers one
// after the other. Files are real, in a folder of their own; the rest fails where it was not told
// what to do.
namespace outlast::cloud::testing {

// Stands still until somebody sleeps or the test moves it. One thread moves it at a time.
class FakeClock : public sys::Clock {
 public:
  MonoTime mono = MonoTime(std::chrono::hours(1));
  WallTime wall = WallTime(std::chrono::seconds(1'800'000'000));  // 2027-01-15T08:00:00Z

  void pass(Duration length) {
    mono += length;
    wall += length;
  }
  MonoTime mono_now() override { return mono; }
  WallTime wall_now() override { return wall; }
  Result<void> sleep_until(MonoTime when, const sys::CallContext& ctx) override {
    if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped");
    if (ctx.deadline < when) return Error(ErrorCode::kDeadlineExceeded, "too late");
    if (when > mono) pass(when - mono);
    return {};
  }
};

// Programs that print and end at once.
class FakePrograms : public sys::ProcessLauncher {
 public:
  struct Program {
    std::string prints = {};
    sys::ExitStatus status = sys::Exited{0};
    bool hangs = false;  // until the deadline of whoever waits
  };
  std::map<std::vector<std::string>, Program> programs;
  std::vector<std::vector<std::string>> started;

  explicit FakePrograms(FakeClock& clock) : clock_(clock) {}
  Result<std::unique_ptr<sys::Process>> spawn(sys::ProcessSpec spec) override {
    const auto found = programs.find(spec.argv);
    if (found == programs.end()) return Error(ErrorCode::kNotFound, "no such program");
    started.push_back(spec.argv);
    return std::make_unique<Running>(found->second, std::move(spec), clock_);
  }

 private:
  class Running : public sys::Process {
   public:
    Running(Program program, sys::ProcessSpec spec, FakeClock& clock)
        : program_(std::move(program)), spec_(std::move(spec)), clock_(clock) {}
    int pid() const override { return 1; }
    Result<void> signal(int) override { return {}; }
    Result<void> signal_group(int) override { return {}; }
    Result<sys::ExitStatus> wait(const sys::CallContext& ctx) override {
      if (program_.hangs) {
        clock_.pass(ctx.deadline - clock_.mono);
        return Error(ErrorCode::kDeadlineExceeded, "it still runs");
      }
      std::get<sys::Output::Sink>(spec_.out.target)(program_.prints);
      return program_.status;
    }

   private:
    const Program program_;
    const sys::ProcessSpec spec_;
    FakeClock& clock_;
  };

  FakeClock& clock_;
};

class NoServers : public sys::HttpServers {
 public:
  Result<std::unique_ptr<sys::HttpServer>> listen(const sys::HttpServerOptions&,
                                                  sys::HttpHandler) override {
    return Error(ErrorCode::kFailed, "nothing listens in this world");
  }
};

class FakeWorld {
 public:
  FakeClock clock;
  FakePrograms programs{clock};
  sim::SimEnvironment environment{"m1"};
  FakeHttp http;

  // The home folder is a new one below the temporary folder of this machine.
  FakeWorld() {
    Random seeds(environment_seed());
    home_ = std::filesystem::temp_directory_path() / ("outlast-test-" + make_token(seeds, 16));
    std::filesystem::create_directory(home_);
    environment.variables["HOME"] = home_.string();
  }
  ~FakeWorld() { std::filesystem::remove_all(home_); }
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  // The path of something below the home folder.
  std::string path(const std::string& below) const { return (home_ / below).string(); }
  // Writes a file there, with the folders above it; its path.
  std::string write(const std::string& below, std::string_view text) {
    std::filesystem::create_directories((home_ / below).parent_path());
    std::ofstream(home_ / below, std::ios::binary) << text;
    return path(below);
  }
  sys::World& world() { return world_; }
  void set(const std::string& name, const std::string& value) {
    environment.variables[name] = value;
  }

 private:
  static std::uint64_t environment_seed() { return sys::make_posix_environment()->entropy(); }

  std::filesystem::path home_;
  const std::unique_ptr<sys::FileSystem> files_ = sys::make_posix_file_system();
  const std::unique_ptr<sys::FileWatches> file_watches_ = sys::make_posix_file_watches();
  const std::unique_ptr<sys::Threads> threads_ = sys::make_posix_threads();
  const std::unique_ptr<sys::ProcessFamilies> process_families_ =
      sys::make_posix_process_families();
  const std::unique_ptr<sys::OwnSignals> own_signals_ = sys::make_posix_own_signals();
  const std::unique_ptr<sys::LocalSockets> local_sockets_ = sys::make_posix_local_sockets();
  const std::unique_ptr<sys::SharedMemories> shared_memories_ = sys::make_posix_shared_memories();
  sim::SimConsole console_;
  NoServers servers_;
  Random random_{1};
  sys::World world_{.clock = clock,
                    .threads = *threads_,
                    .files = *files_,
                    .file_watches = *file_watches_,
                    .processes = programs,
                    .process_families = *process_families_,
                    .own_signals = *own_signals_,
                    .environment = environment,
                    .console = console_,
                    .http = http,
                    .http_servers = servers_,
                    .local_sockets = *local_sockets_,
                    .shared_memories = *shared_memories_,
                    .random = random_};
};

}  // namespace outlast::cloud::testing
