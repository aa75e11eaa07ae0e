#include "drill/bad_news.h"

#include <fmt/core.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/schedule.h"
#include "stand_in/metadata_stand_in.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/http_server.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::drill {
namespace {

constexpr std::string_view kSources = "OUTLAST_NOTICE_SOURCES";
constexpr std::uint32_t kExecutable = 0755;

Error cannot_withdraw() {
  return {ErrorCode::kInvalidArgument, "a signal that was sent cannot be taken back"};
}

// Also for machines that hear nothing: what ends by SIGKILL listens to signals all the same.
class SignalNews : public BadNews {
 public:
  Variables environment() const override { return {{std::string(kSources), "signal"}}; }
  Result<void> announce(sys::Process& agent, Duration /*left*/) override {
    return agent.signal(SIGTERM);
  }
  Result<void> withdraw() override { return cannot_withdraw(); }
};

class FileNews : public BadNews {
 public:
  FileNews(sys::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  Variables environment() const override { return {{std::string(kSources), "signal"}}; }
  std::vector<std::string> options() const override { return {"--notice", "file:" + path_}; }
  Result<void> announce(sys::Process& /*agent*/, Duration left) override {
    return sys::write_file_atomically(files_, path_, as_bytes(format_duration(left)));
  }
  Result<void> withdraw() override { return files_.remove_file(path_); }

 private:
  sys::FileSystem& files_;
  const std::string path_;
};

// A batch process of a cluster, as far as it can tell.
class SlurmNews : public BadNews {
 public:
  static Result<std::unique_ptr<BadNews>> make(sys::World& world, const std::string& folder) {
    const std::string bin = sys::join_path(folder, "bin");
    const std::string tool = sys::join_path(bin, "scontrol");
    // Answers as a controller does of a job that runs, and keeps what it was asked to do.
    const std::string script = fmt::format(
        "#!/bin/sh\n"
        "case $1 in\n"
        "show) echo 'JobId={0} JobName=drill JobState=RUNNING Reason=None Requeue=1 "
        "Restarts=0 TimeLimit=UNLIMITED EndTime=Unknown' ;;\n"
        "requeue|update) echo \"$*\" >>'{1}/asked' ;;\n"
        "--version|-V) echo 'slurm 22.05.8' ;;\n"
        "*) echo \"scontrol: error: invalid keyword: $1\" >&2; exit 1 ;;\n"
        "esac\n",
        kJobId, folder);
    OUTLAST_TRY(sys::make_dirs(world.files, bin));
    OUTLAST_TRY(sys::write_file_atomically(world.files, tool, as_bytes(script)));
    OUTLAST_TRY(world.files.set_mode(tool, kExecutable));
    const WallTime end = world.clock.wall_now() + std::chrono::hours(24);
    return std::unique_ptr<BadNews>(new SlurmNews(
        bin, std::chrono::duration_cast<std::chrono::seconds>(end.time_since_epoch()).count()));
  }

  Variables environment() const override {
    return {{std::string(kSources), "slurm"},
            {"PATH", bin_},
            {"SLURM_JOB_ID", std::string(kJobId)},
            {"SLURM_JOBID", std::string(kJobId)},
            {"SLURM_JOB_NAME", "drill"},
            {"SLURM_JOB_END_TIME", fmt::format("{}", end_seconds_)}};
  }
  // As the table of what a batch process gets says: it is woken, should it sleep, and asked to end.
  Result<void> announce(sys::Process& agent, Duration /*left*/) override {
    OUTLAST_TRY(agent.signal(SIGCONT));
    return agent.signal(SIGTERM);
  }
  Result<void> withdraw() override { return cannot_withdraw(); }

 private:
  static constexpr std::string_view kJobId = "4242";
  SlurmNews(std::string bin, std::int64_t end_seconds)
      : bin_(std::move(bin)), end_seconds_(end_seconds) {}

  const std::string bin_;
  const std::int64_t end_seconds_;
};

// A cloud's metadata service, on a port of this machine.
class CloudNews : public BadNews {
 public:
  static Result<std::unique_ptr<BadNews>> make(std::string_view cloud, const BadNewsParts& parts) {
    OUTLAST_TRY_ASSIGN(std::unique_ptr<stand_in::MetadataStandIn> service,
                       stand_in::make_stand_in(cloud, parts.world.clock, parts.world.threads));
    OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::HttpServer> server,
                       parts.world.http_servers.listen({}, service->handler()));
    return std::unique_ptr<BadNews>(
        new CloudNews(std::string(cloud), std::move(service), std::move(server)));
  }

  Variables environment() const override {
    Variables variables =
        service_->environment(fmt::format("http://127.0.0.1:{}", server_->port()));
    variables.emplace_back(kSources, cloud_);
    return variables;
  }
  Result<void> announce(sys::Process& /*agent*/, Duration left) override {
    service_->announce(left);
    return {};
  }
  Result<void> withdraw() override {
    service_->withdraw();
    return {};
  }
  void finish() override { service_->release_waiting(); }

 private:
  CloudNews(std::string cloud, std::unique_ptr<stand_in::MetadataStandIn> service,
            std::unique_ptr<sys::HttpServer> server)
      : cloud_(std::move(cloud)), service_(std::move(service)), server_(std::move(server)) {}

  const std::string cloud_;
  const std::unique_ptr<stand_in::MetadataStandIn> service_;
  const std::unique_ptr<sys::HttpServer> server_;  // ends before what it serves
};

}  // namespace

Result<std::unique_ptr<BadNews>> make_bad_news(Source source, const BadNewsParts& parts) {
  switch (source) {
    case Source::kGce:
    case Source::kEc2:
    case Source::kAzure:
      return CloudNews::make(to_string(source), parts);
    case Source::kSlurm:
      return SlurmNews::make(parts.world, parts.folder);
    case Source::kFile:
      return std::unique_ptr<BadNews>(
          std::make_unique<FileNews>(parts.world.files, sys::join_path(parts.folder, "notice")));
    case Source::kSignal:
    case Source::kKill:
      break;
  }
  return std::unique_ptr<BadNews>(std::make_unique<SignalNews>());
}

}  // namespace outlast::drill
