#include "machine/boot_unit.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "base/time.h"
#include "base/utf8.h"

namespace outlast::machine {
namespace {

constexpr std::string_view kMadeBy =
    "# Made by 'outlast run --install-boot'; 'outlast run --remove-boot' takes it away.\n";

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_letter_or_digit(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

Error refused(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

Result<void> check_job(const JobName& job) {
  constexpr std::size_t kNameMax = 63;
  const std::string& name = job.str();
  const bool good =
      !name.empty() && name.size() <= kNameMax && std::all_of(name.begin(), name.end(), [](char c) {
        return is_lower_or_digit(c) || c == '-' || c == '_' || c == '.';
      });
  if (good) return {};
  return refused(
      "a job that is to run at every boot needs a name of up to 63 lower-case letters, digits, "
      "'-', '_' and '.'");
}

Result<void> check_user(std::string_view user) {
  const bool good =
      !user.empty() && user.front() != '-' && std::all_of(user.begin(), user.end(), [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
      });
  if (good) return {};
  return refused(
      "the user that the command is to run as at boot has a name that systemd and cron do not "
      "take: letters, digits, '-', '_' and '.' only");
}

// `what` begins a sentence: "an argument of the command".
Result<void> check_text(std::string_view text, std::string_view what) {
  if (!is_utf8(text)) {
    return refused(
        fmt::format("{} is not UTF-8, which systemd requires: put the command into a script and "
                    "have that run at boot",
                    what));
  }
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
  if (!has_control) return {};
  return refused(
      fmt::format("{} has a line break or another control character in it, which cannot be written "
                  "into a boot file: put the command into a script and have that run at boot",
                  what));
}

// systemd expands % everywhere.
std::string without_specifiers(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '%' ? std::string("%%") : std::string(1, c);
  return safe;
}

std::string systemd_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : without_specifiers(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// In a command line, and only there, systemd also expands variables.
std::string systemd_word(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  std::string word;
  for (const char c : systemd_quoted(text))
    word += c == '$' ? std::string("$$") : std::string(1, c);
  return word;
}

// A path that takes the rest of its line. At its end a blank would be cut off, and a backslash
// would take the next line with it.
std::string systemd_path(std::string_view path) {
  std::string text = without_specifiers(path);
  if (text.back() == ' ' || text.back() == '\t' || text.back() == '\\') text += '/';
  return text;
}

std::string joined(const std::vector<std::string>& argv,
                   std::string (*as_word)(std::string_view text)) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += as_word(word);
  }
  return line;
}

// What cron hands to the shell unharmed. cron takes "\%" for "%" and a plain "%" for a line end;
// some crons also take "\\" for "\", so no backslash of ours is followed by one, or by a "%": the
// quotes between them mean nothing to the shell, which is inside quotes wherever shell_word() has
// left either of the two.
std::string cron_word(std::string_view text) {
  std::string word;
  bool is_quoted = false;
  const std::string shell = shell_word(text);
  for (std::size_t i = 0; i < shell.size(); ++i) {
    const char c = shell[i];
    if (c == '\'') is_quoted = !is_quoted;
    if (c == '\\' && !is_quoted) {  // the \' between two quoted parts
      word += "\\'";
      ++i;
    } else if (c == '\\') {
      word += "\\''";
    } else if (c == '%') {
      word += "\\%";
    } else {
      word += c;
    }
  }
  return word;
}

}  // namespace

Result<void> check_boot_spec(const BootSpec& spec) {
  OUTLAST_TRY(check_job(spec.job));
  OUTLAST_TRY(check_user(spec.user));
  if (spec.argv.empty()) return refused("there is no command to run at every boot");
  for (const std::string& word : spec.argv) {
    OUTLAST_TRY(check_text(word, "an argument of the command"));
  }
  OUTLAST_TRY(check_text(spec.working_folder, "the name of the working folder"));
  OUTLAST_TRY(check_text(spec.needed_folder, "the name of the root"));
  OUTLAST_TRY(check_text(spec.path, "PATH"));
  if (!spec.argv.front().starts_with('/')) {
    return refused(fmt::format(
        "the program to run at every boot must be named by its whole path, not '{}': nobody "
        "searches for it at boot",
        spec.argv.front()));
  }
  if (!spec.working_folder.starts_with('/')) {
    return refused(
        fmt::format("the working folder of what is to run at every boot must be a whole path, not "
                    "'{}'",
                    spec.working_folder));
  }
  if (!spec.needed_folder.empty() && !spec.needed_folder.starts_with('/')) {
    return refused(
        fmt::format("the folder that a command needs at boot must be a whole path, not '{}'",
                    spec.needed_folder));
  }
  return {};
}

std::string boot_environment_file(const JobName& job) {
  return fmt::format("/etc/outlast/{}.env", job.str());
}

std::string systemd_unit_name(const JobName& job) {
  return fmt::format("outlast-{}.service", job.str());
}

Result<std::string> systemd_unit(const BootSpec& spec) {
  OUTLAST_TRY(check_boot_spec(spec));
  if (spec.argv.front().find('$') != std::string::npos) {
    return refused(
        fmt::format("systemd cannot start '{}' because of the '$' in it: use a symlink without one",
                    spec.argv.front()));
  }
  constexpr auto kMoreThanGrace = std::chrono::seconds(15);
  const auto stop =
      std::chrono::ceil<std::chrono::seconds>(std::max(spec.grace, Duration::zero())) +
      kMoreThanGrace;
  std::string text(kMadeBy);
  text += fmt::format(
      "[Unit]\n"
      "Description=outlast job {}\n"
      "Wants=network-online.target\n"
      "After=network-online.target\n"
      "StartLimitIntervalSec=0\n"
      "{}"
      "\n"
      "[Service]\n"
      "ExecStart={}\n"
      "WorkingDirectory={}\n"
      "User={}\n",
      spec.job.str(),
      spec.needed_folder.empty()
          ? ""
          : fmt::format("RequiresMountsFor={}\n", systemd_quoted(spec.needed_folder)),
      joined(spec.argv, systemd_word), systemd_path(spec.working_folder), spec.user);
  if (!spec.path.empty()) {
    text += fmt::format("Environment={}\n", systemd_quoted("PATH=" + spec.path));
  }
  text += fmt::format(
      "# Credentials and the like, if they are needed: NAME=value lines, mode 600.\n"
      "EnvironmentFile=-{}\n"
      "# SIGTERM to the agent alone, which asks the trainer to save; the rest is killed after it.\n"
      "KillMode=mixed\n"
      "KillSignal=SIGTERM\n"
      "TimeoutStopSec={}\n"
      "# A trainer that runs out of memory is the agent's to judge, and no reason to end it.\n"
      "OOMPolicy=continue\n"
      "# 75: saved and left, to be resumed. 1 2 3: never again as it is.\n"
      "Restart=on-failure\n"
      "RestartSec=10\n"
      "SuccessExitStatus=75\n"
      "RestartForceExitStatus=75\n"
      "RestartPreventExitStatus=1 2 3\n"
      "StandardOutput=journal\n"
      "StandardError=journal\n"
      "\n"
      "[Install]\n"
      "WantedBy=multi-user.target\n",
      boot_environment_file(spec.job), stop.count());
  return text;
}

std::string cron_file_name(const JobName& job) {
  std::string name = "outlast-";
  // Names of jobs have no capital letters: two jobs never share a file.
  for (const char c : job.str()) name += c == '.' ? std::string("DOT") : std::string(1, c);
  return name;
}

Result<std::string> cron_file(const BootSpec& spec) {
  OUTLAST_TRY(check_boot_spec(spec));
  std::string command;
  if (!spec.path.empty()) command += fmt::format("PATH={}; export PATH; ", cron_word(spec.path));
  command += fmt::format("[ -r {0} ] && {{ set -a; . {0}; set +a; }}; cd {1} && exec {2}",
                         boot_environment_file(spec.job), cron_word(spec.working_folder),
                         joined(spec.argv, cron_word));
  constexpr std::size_t kCommandMax = 998;  // Vixie cron, and those that descend from it
  if (command.size() > kCommandMax) {
    return refused(fmt::format(
        "the command is too long for cron ({} bytes with PATH, of at most {}): put it into a "
        "script and have that run at boot",
        command.size(), kCommandMax));
  }
  return fmt::format("{}SHELL=/bin/sh\nMAILTO=\"\"\n@reboot {} {}\n", kMadeBy, spec.user, command);
}

}  // namespace outlast::machine
