#include <fmt/core.h>
#include <signal.h>  // the numbers of signals are POSIX's

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "stand_in/happening.h"
#include "stand_in/metadata_stand_in.h"
#include "stand_in/script.h"
#include "stand_in/script_player.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/http_server.h"
#include "sys/own_signals.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::uint64_t kScriptBytesMax = 1U << 20U;

// What the command line asks for.
struct StandInPlan {
  std::string cloud = {};
  sys::HttpServerOptions listen = {};
  stand_in::Happening preempt = {};  // when a signal asks for it
  stand_in::Script script = {};
};

// "127.0.0.1:8080", "[::1]:8080", "127.0.0.1" or ":8080".
std::optional<sys::HttpServerOptions> read_listen(std::string_view text) {
  sys::HttpServerOptions options;
  const std::size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  std::string_view address = has_port ? text.substr(0, colon) : text;
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  if (!address.empty()) options.address = address;
  if (!has_port) return address.empty() ? std::nullopt : std::optional(options);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  options.port = *port;
  return options;
}

std::string url_of(const sys::HttpServerOptions& options, std::uint16_t port) {
  const bool is_v6 = options.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", options.address, port)
               : fmt::format("http://{}:{}", options.address, port);
}

Result<stand_in::Script> read_script(const std::string& file, const std::string& cloud,
                                     sys::World& world) {
  const std::string doing = fmt::format("script {}", printable(file));
  OUTLAST_TRY_ASSIGN(const std::string text,
                     sys::read_file(world.files, file == "-" ? "/dev/stdin" : file, kScriptBytesMax)
                         .while_doing(doing));
  return stand_in::parse_script(text, cloud).while_doing(doing);
}

// Says what happens, as it happens. Thread-safe.
class StandInReport {
 public:
  StandInReport(const Terminal& terminal, sys::Clock& clock) : terminal_(terminal), clock_(clock) {}

  void began(const StandInPlan& plan, const std::string& url,
             const std::vector<std::pair<std::string, std::string>>& environment) const {
    if (terminal_.json()) {
      Json variables = Json::object();
      for (const auto& [name, value] : environment) variables[name] = value;
      print_line({{"event", "serving"},
                  {"cloud", plan.cloud},
                  {"url", url},
                  {"environment", std::move(variables)}});
      return;
    }
    std::string text = fmt::format("# {} at {}\n", plan.cloud, url);
    for (const auto& [name, value] : environment) {
      text += fmt::format("export {}={}\n", name, shell_word(value));
    }
    terminal_.print(text);
    terminal_.note("Ctrl-C ends it");
  }

  void happened(std::string_view event, std::string_view sentence) const {
    const WallTime now = clock_.wall_now();
    if (terminal_.json()) {
      print_line({{"time", format_rfc3339(now)}, {"event", event}, {"text", sentence}});
    } else {
      terminal_.print(fmt::format("{} {}: {}\n", format_time(now), event, sentence));
    }
  }

 private:
  void print_line(const Json& json) const { terminal_.print(canonical_json(json) + "\n"); }

  const Terminal& terminal_;
  sys::Clock& clock_;
};

Result<ExitCode> serve(const StandInPlan& plan, const Context& context) {
  sys::World& world = context.world;
  const StandInReport report(context.terminal, world.clock);
  OUTLAST_TRY_ASSIGN(
      const std::unique_ptr<stand_in::MetadataStandIn> stand_in,
      stand_in::make_stand_in(plan.cloud, world.clock, world.threads,
                              [&report](std::string_view event, const std::string& sentence) {
                                report.happened(event, printable_whole(sentence));
                              }));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::SignalSubscription> signals,
                     world.own_signals.subscribe({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::HttpServer> server,
                     world.http_servers.listen(plan.listen, stand_in->handler()));
  const std::string url = url_of(plan.listen, server->port());
  report.began(plan, url, stand_in->environment(url));

  const auto told = [&](const stand_in::Happening& happening, const Result<void>& taken) {
    report.happened("happened",
                    taken ? format_happening(happening, plan.cloud) : taken.error().to_string());
  };
  const stand_in::ScriptPlayer player(plan.script, *stand_in, world.clock, world.threads, told);
  for (;;) {
    OUTLAST_TRY_ASSIGN(const int signal, signals->next({}));
    if (signal != SIGUSR1 && signal != SIGUSR2) break;
    const stand_in::Happening happening =
        signal == SIGUSR1 ? plan.preempt : stand_in::Happening{.word = "withdraw"};
    told(happening, stand_in->happen(happening));
  }
  stand_in->release_waiting();
  return ExitCode::kOk;
}

Result<ExitCode> run_stand_in(const Invocation& invocation, Context& context) {
  StandInPlan plan = {.cloud = invocation.positionals.front()};
  if (const auto listen = invocation.value("listen")) {
    const auto options = read_listen(*listen);
    if (!options) {
      return wrong_value(invocation, context,
                         fmt::format("--listen takes an address and a port such as "
                                     "127.0.0.1:8080, not '{}'",
                                     printable(*listen)));
    }
    plan.listen = *options;
  }
  OUTLAST_TRY_ASSIGN(plan.preempt, stand_in::parse_happening("preempt", plan.cloud));
  const auto script = invocation.value("script");
  const auto preempt_after = invocation.value("preempt-after");
  if (script && preempt_after) {
    return wrong_value(invocation, context,
                       "--script and --preempt-after exclude each other: a script has its own "
                       "'TIME preempt'");
  }
  if (const auto text = invocation.value("notice-time")) {
    const Result<Duration> time = parse_duration(*text);
    if (!time) {
      return wrong_value(invocation, context, "--notice-time: " + time.error().to_string());
    }
    plan.preempt.time = *time;
  }
  if (preempt_after) {
    const Result<Duration> time = parse_duration(*preempt_after);
    if (!time) {
      return wrong_value(invocation, context, "--preempt-after: " + time.error().to_string());
    }
    plan.script.push_back({.at = *time, .happening = plan.preempt});
  }
  if (script) {
    OUTLAST_TRY_ASSIGN(plan.script, read_script(*script, plan.cloud, context.world));
  }
  return serve(plan, context);
}

// "preempt [TIME] (a Preempt event), …"
std::string all_happenings(std::string_view cloud) {
  std::string text;
  for (const stand_in::HappeningRow& row : stand_in::happenings_of(cloud)) {
    if (row.cloud != cloud) continue;
    text += fmt::format("{}'{}' ({})", text.empty() ? "" : ", ", usage(row), row.does);
  }
  return text;
}

std::vector<std::string> stand_in_description() {
  const std::string what =
      "Serves what the metadata service of Google (gce), Amazon (ec2) or Microsoft (azure) serves "
      "on "
      "a spot machine, as strictly as they do, until Ctrl-C or SIGTERM. Nothing of it is real: "
      "keys "
      "and tokens open nothing.";
  const std::string prints =
      "It prints where it is and what a program needs in its environment to find it, then what "
      "happens, each event that is acknowledged and each kind of request that it refuses, with the "
      "reason. With --json each line is an object with 'event'; the first, 'serving', has 'url' "
      "and "
      "'environment', the others 'time' and 'text'.";
  const std::string when =
      "SIGUSR1 announces the end of the machine, SIGUSR2 withdraws it; --preempt-after does it "
      "after "
      "a while. A script has a line for each thing that is to happen, with its time after the "
      "start: "
      "'10s preempt 30s', '25s withdraw', '30s fail 503 for 5s'.";
  const std::string faults =
      "A fault ('fail', 'html', 'half', 'hang', 'slow') may be followed by 'on PATH' (only "
      "requests "
      "that begin so), 'once' (only the next one) and 'for TIME'.";
  return {what,
          prints,
          when,
          fmt::format("What can happen to gce: {}.", all_happenings("gce")),
          fmt::format("To ec2: {}.", all_happenings("ec2")),
          fmt::format("To azure: {}.", all_happenings("azure")),
          fmt::format("To all: {}. {}", all_happenings(""), faults)};
}

}  // namespace

CommandSpec stand_in_command() {
  return {
      .path = {"stand-in"},
      .group = "Rehearsal",
      .summary = "Be a cloud's metadata service, and say that this machine ends",
      .description = stand_in_description(),
      .positionals = {{.name = "CLOUD",
                       .help = "Whose service: gce, ec2 or azure",
                       .words = stand_in::stand_in_names()}},
      .options = {{.name = "listen",
                   .value_name = "ADDRESS:PORT",
                   .help = "where (default: 127.0.0.1 and a free port)"},
                  {.name = "script",
                   .value_name = "FILE",
                   .help = "what happens, and when; - reads standard input",
                   .completes = Completes::kFiles},
                  {.name = "preempt-after",
                   .value_name = "TIME",
                   .help = "announce the end so long after the start"},
                  {.name = "notice-time",
                   .value_name = "TIME",
                   .help = "from the announcement to the end (default: the cloud's own, 30s or "
                           "2m)"}},
      .examples = {{.command = "outlast stand-in gce --preempt-after 1m",
                    .does = "A Google machine that is preempted in a minute"},
                   {.command = "outlast stand-in ec2 --listen 169.254.169.254:80",
                    .does = "At the real address, in a network namespace that has it"},
                   {.command = "echo '5s fail 503 for 1m' | outlast stand-in azure --script -",
                    .does = "A service that is away for a minute"}},
      .run = run_stand_in,
  };
}

}  // namespace outlast::cli
