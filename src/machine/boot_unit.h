#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

// The texts that make a command run at every boot. Pure; boot.h puts them in their places.
//
// What the command's exit codes mean to the one that started it:
//
//   0        the job is done; it is not started again before the next boot, when it ends at once
//   1, 2, 3  it failed for good, or could never work as it was given: not started again
//   others   (4: a store was out of reach; 75: saved and left; a signal) started again, 10 s later,
//            as often as it takes, unless the machine is on its way down
//
// That is systemd. cron starts it once for each boot and then forgets it, and nothing here makes up
// for that: a machine that is preempted boots again anyway.
namespace outlast::machine {

struct BootSpec {
  JobName job = {};
  std::vector<std::string> argv = {};  // the program's absolute path first
  std::string working_folder = {};     // absolute
  std::string needed_folder = {};      // absolute; mounted before the command is started; or none
  std::string user = "root";           // as whom it runs; its HOME and SHELL are set accordingly
  // What the command needs from SIGTERM to its end. systemd leaves it 15 s more than that.
  Duration grace = std::chrono::seconds(30);
  // PATH for the command, usually the installing shell's, so that a Python environment is found
  // again; empty: what systemd or cron give. No other variable is kept, because some are secrets
  // and these files can be read by everybody.
  std::string path = {};
};

// kInvalidArgument, in one sentence, for what cannot be written down in either file: an empty
// command, paths that are not absolute, a name that cannot be a job's or a user's, line breaks and
// other control characters (except tabs), text that is not UTF-8.
Result<void> check_boot_spec(const BootSpec& spec);

// "/etc/outlast/<job>.env": lines NAME=value, made by the user if at all, with mode 600, for
// credentials. systemd reads it as root; from cron the command's user must be able to read it, and
// it is read as shell text.
std::string boot_environment_file(const JobName& job);

// "outlast-<job>.service".
std::string systemd_unit_name(const JobName& job);
// The file of that name. Besides check_boot_spec() it refuses a '$' in the program's path, which
// systemd would take literally in one place and as a variable in another.
Result<std::string> systemd_unit(const BootSpec& spec);

// "outlast-<job>", with DOT for each '.': cron passes over files with a '.' in their names.
std::string cron_file_name(const JobName& job);
// The file of that name. Besides check_boot_spec() it refuses a command that is too long for one
// line of a crontab (with PATH and all, 998 bytes).
Result<std::string> cron_file(const BootSpec& spec);

}  // namespace outlast::machine
