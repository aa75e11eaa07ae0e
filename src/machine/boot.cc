#include "machine/boot.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "machine/boot_unit.h"
#include "machine/tool.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::machine {
namespace {

// Exists only while systemd is what runs the machine: sd_booted(3) looks there too.
constexpr char kSystemdRuns[] = "/run/systemd/system";
constexpr char kUnits[] = "/etc/systemd/system";
constexpr char kEnabled[] = "/etc/systemd/system/multi-user.target.wants";
constexpr char kCronFiles[] = "/etc/cron.d";

bool is_folder(sys::World& world, const std::string& path) {
  const Result<sys::FileInfo> info = world.files.stat(path);
  return info && info->type == sys::FileType::kDirectory;
}

Result<void> require_root(sys::World& world, const char* doing) {
  if (may_be_root(world)) return {};
  return Error(ErrorCode::kPermissionDenied,
               fmt::format("only root may {}: run the same command with sudo", doing));
}

Result<void> write_boot_file(sys::World& world, const std::string& path, const std::string& text) {
  // cron refuses a file that its group may write, which a umask can bring about.
  constexpr std::uint32_t kMode = 0644;
  OUTLAST_TRY(sys::write_file_atomically(world.files, path, as_bytes(text)));
  return world.files.set_mode(path, kMode);
}

Result<BootInstalled> install_for_systemd(sys::World& world, const BootSpec& spec,
                                          const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string text, systemd_unit(spec));
  const std::string unit = systemd_unit_name(spec.job);
  const std::string file = sys::join_path(kUnits, unit);
  OUTLAST_TRY(write_boot_file(world, file, text));
  OUTLAST_TRY(run_tool(world, {"systemctl", "daemon-reload"}, ctx));
  OUTLAST_TRY(run_tool(world, {"systemctl", "enable", unit}, ctx));
  // The link that "enable" makes must be there after a power failure, too.
  if (is_folder(world, kEnabled)) OUTLAST_TRY(world.files.sync_dir(kEnabled));
  OUTLAST_TRY(world.files.sync_dir(kUnits));
  return BootInstalled{.kind = BootKind::kSystemd,
                       .file = file,
                       .environment_file = boot_environment_file(spec.job)};
}

Result<BootInstalled> install_for_cron(sys::World& world, const BootSpec& spec) {
  OUTLAST_TRY_ASSIGN(const std::string text, cron_file(spec));
  const std::string file = sys::join_path(kCronFiles, cron_file_name(spec.job));
  OUTLAST_TRY(write_boot_file(world, file, text));
  return BootInstalled{
      .kind = BootKind::kCron, .file = file, .environment_file = boot_environment_file(spec.job)};
}

std::string shell_line(const BootSpec& spec) {
  std::string line = fmt::format("cd {} &&", shell_word(spec.working_folder));
  for (const std::string& word : spec.argv) line += " " + shell_word(word);
  return line;
}

// Whether it was there.
Result<bool> remove_durably(sys::World& world, const std::string& path) {
  const Result<void> removed = world.files.remove_file(path);
  if (!removed && removed.error().code() == ErrorCode::kNotFound) return false;
  OUTLAST_TRY(removed);
  OUTLAST_TRY(world.files.sync_dir(sys::parent_path(path)));
  return true;
}

}  // namespace

Result<BootInstalled> install_boot(sys::World& world, const BootSpec& spec,
                                   const sys::CallContext& ctx) {
  const std::string doing = fmt::format("have the job '{}' started at every boot", spec.job.str());
  OUTLAST_TRY(check_boot_spec(spec).while_doing(doing));
  OUTLAST_TRY(require_root(world, "have a command run at every boot"));
  if (is_folder(world, kSystemdRuns)) {
    return install_for_systemd(world, spec, ctx).while_doing(doing);
  }
  if (is_folder(world, kCronFiles)) return install_for_cron(world, spec).while_doing(doing);
  return Error(
      ErrorCode::kUnavailable,
      fmt::format("nothing here runs commands at boot, neither systemd ({} is missing) nor "
                  "cron ({} is missing): have whatever starts this machine or container "
                  "run \"{}\"",
                  kSystemdRuns, kCronFiles, shell_line(spec)));
}

Result<std::vector<std::string>> remove_boot(sys::World& world, const JobName& job,
                                             const sys::CallContext& ctx) {
  OUTLAST_TRY(require_root(world, "change what runs at every boot"));
  const std::string doing =
      fmt::format("no longer have the job '{}' started at every boot", job.str());
  const std::string unit = systemd_unit_name(job);
  std::vector<std::string> gone;
  // The link first: a link without its unit would be complained about at every boot. Done by hand,
  // because it is all that "systemctl disable" does, and works where systemd does not run.
  for (const std::string& file : {sys::join_path(kEnabled, unit), sys::join_path(kUnits, unit),
                                  sys::join_path(kCronFiles, cron_file_name(job))}) {
    OUTLAST_TRY_ASSIGN(const bool was_there, remove_durably(world, file).while_doing(doing));
    if (was_there) gone.push_back(file);
  }
  if (!gone.empty() && is_folder(world, kSystemdRuns)) {
    OUTLAST_TRY(run_tool(world, {"systemctl", "daemon-reload"}, ctx).while_doing(doing));
  }
  return gone;
}

}  // namespace outlast::machine
