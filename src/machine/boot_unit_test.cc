#include "machine/boot_unit.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "sys/posix_world.h"
#include "sys/process.h"

namespace outlast::machine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

BootSpec plain_spec() {
  return {.job = JobName("bert.v2"),
          .argv = {"/usr/bin/outlast", "run", "--job", "bert.v2", "--", "python", "train.py"},
          .working_folder = "/home/ada/bert",
          .user = "ada",
          .grace = seconds(45)};
}

// Every character that means something to systemd, cron or the shell, alone and beside others.
std::vector<std::string> hard_words() {
  return {"",      " ",    "a b",   "a\tb",   "'",         "''",    "it's",       "\"",
          "\\",    "\\\\", "a\\",   "\\n",    "\\'",       "\\\"",  "%",          "%%",
          "%h",    "\\%",  "\\\\%", "\\%\\%", "'%'",       "$",     "$HOME",      "${HOME}",
          "$(ls)", "`ls`", ";",     "; ls",   "&&",        "|",     "#",          "# no comment",
          "!",     "*",    "~",     "[a]",    "{a,b}",     "<in",   "lr=1e-3",    "\xc3\xa9",
          "-",     "--",   "@x",    "+x",     "a=\"b c\"", "\\x41", "\\\\\\\\%x", "'\\''"};
}

TEST(SystemdUnit, IsExactlyThis) {
  BootSpec spec = plain_spec();
  spec.path = "/opt/my env/bin:/usr/bin";
  const Result<std::string> text = systemd_unit(spec);
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text,
            R"(# Made by 'outlast run --install-boot'; 'outlast run --remove-boot' takes it away.
[Unit]
Description=outlast job bert.v2
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/outlast run --job bert.v2 -- python train.py
WorkingDirectory=/home/ada/bert
User=ada
Environment="PATH=/opt/my env/bin:/usr/bin"
# Credentials and the like, if they are needed: NAME=value lines, mode 600.
EnvironmentFile=-/etc/outlast/bert.v2.env
# SIGTERM to the agent alone, which asks the trainer to save; the rest is killed after it.
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=60
# A trainer that runs out of memory is the agent's to judge, and no reason to end it.
OOMPolicy=continue
# 75: saved and left, to be resumed. 1 2 3: never again as it is.
Restart=on-failure
RestartSec=10
SuccessExitStatus=75
RestartForceExitStatus=75
RestartPreventExitStatus=1 2 3
StandardOutput=journal
StandardError=journal

[Install]
WantedBy=multi-user.target
)");
  EXPECT_EQ(systemd_unit_name(spec.job), "outlast-bert.v2.service");
}

std::string line_of(const std::string& text, std::string_view begin) {
  const std::size_t at = text.find("\n" + std::string(begin));
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(SystemdUnit, WaitsForTheMountOfARootThatIsAFolder) {
  BootSpec spec = plain_spec();
  EXPECT_EQ(systemd_unit(spec).value_or("").find("RequiresMountsFor="), std::string::npos);
  spec.needed_folder = "/mnt/50% of \"it\"";
  const std::string text = systemd_unit(spec).value_or("");
  EXPECT_EQ(line_of(text, "RequiresMountsFor="), R"(RequiresMountsFor="/mnt/50%% of \"it\"")");
}

TEST(SystemdUnit, NothingInACommandMeansAnythingToSystemd) {
  BootSpec spec = plain_spec();
  spec.argv = {"/opt/100% it's/outlast",
               "a b",
               "%h",
               "$HOME",
               "say \"x\"",
               "back\\slash",
               ";",
               "plain",
               "",
               "tab\there"};
  spec.working_folder = "/data/50% of it/";
  spec.path = "/opt/$x/%y:/\"q\"";
  spec.grace = milliseconds(1);
  const std::string text = systemd_unit(spec).value_or("");
  EXPECT_EQ(line_of(text, "ExecStart="),
            R"(ExecStart="/opt/100%% it's/outlast" "a b" "%%h" "$$HOME" "say \"x\"" )"
            R"("back\\slash" ";" plain "" )"
            "\"tab\there\"");
  EXPECT_EQ(line_of(text, "WorkingDirectory="), "WorkingDirectory=/data/50%% of it/");
  EXPECT_EQ(line_of(text, "Environment="), R"(Environment="PATH=/opt/$x/%%y:/\"q\"")");
  EXPECT_EQ(line_of(text, "TimeoutStopSec="), "TimeoutStopSec=16");
}

TEST(SystemdUnit, AFolderKeepsTheEndOfItsName) {
  BootSpec spec = plain_spec();
  for (const char* end : {" ", "\t", "\\"}) {
    spec.working_folder = std::string("/odd") + end;
    EXPECT_EQ(line_of(systemd_unit(spec).value_or(""), "WorkingDirectory="),
              "WorkingDirectory=" + spec.working_folder + "/");
  }
}

TEST(BootSpec, WhatCannotBeWrittenDownIsRefused) {
  const auto refused = [](const auto& change) {
    BootSpec spec = plain_spec();
    change(spec);
    const Result<std::string> unit = systemd_unit(spec);
    const Result<std::string> cron = cron_file(spec);
    EXPECT_FALSE(unit);
    EXPECT_FALSE(cron);
    if (unit || cron) return std::string();
    EXPECT_EQ(unit.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(unit.error().to_string(), cron.error().to_string());
    return unit.error().to_string();
  };
  EXPECT_EQ(refused([](BootSpec& spec) { spec.argv[6] = "a\nb"; }),
            "an argument of the command has a line break or another control character in it, which "
            "cannot be written into a boot file: put the command into a script and have that run "
            "at boot");
  refused([](BootSpec& spec) { spec.argv[6] = "\x1b"; });
  refused([](BootSpec& spec) { spec.argv[6] = std::string("a\0b", 3); });
  refused([](BootSpec& spec) { spec.argv[6] = "\xff"; });
  refused([](BootSpec& spec) { spec.argv[0] = "outlast"; });
  refused([](BootSpec& spec) { spec.argv.clear(); });
  refused([](BootSpec& spec) { spec.working_folder = "."; });
  refused([](BootSpec& spec) { spec.needed_folder = "prefix/of a bucket"; });
  refused([](BootSpec& spec) { spec.needed_folder = "/a\nExecStart=/bad"; });
  refused([](BootSpec& spec) { spec.working_folder = "/a\nExecStart=/bad"; });
  refused([](BootSpec& spec) { spec.path = "/bin\n"; });
  refused([](BootSpec& spec) { spec.job = JobName("../x"); });
  refused([](BootSpec& spec) { spec.job = JobName(""); });
  refused([](BootSpec& spec) { spec.user = "ada; rm"; });
  refused([](BootSpec& spec) { spec.user = ""; });
}

TEST(SystemdUnit, AProgramWithADollarIsRefused) {
  BootSpec spec = plain_spec();
  spec.argv[0] = "/opt/$x/outlast";
  EXPECT_FALSE(systemd_unit(spec));
  EXPECT_TRUE(cron_file(spec));
}

TEST(CronFile, IsExactlyThis) {
  BootSpec spec = plain_spec();
  spec.argv.push_back("50%");
  spec.path = "/opt/env/bin:/usr/bin";
  const Result<std::string> text = cron_file(spec);
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text,
            R"(# Made by 'outlast run --install-boot'; 'outlast run --remove-boot' takes it away.
SHELL=/bin/sh
MAILTO=""
@reboot ada PATH=/opt/env/bin:/usr/bin; export PATH; [ -r /etc/outlast/bert.v2.env ] && )"
            R"({ set -a; . /etc/outlast/bert.v2.env; set +a; }; cd /home/ada/bert && )"
            R"(exec /usr/bin/outlast run --job bert.v2 -- python train.py '50\%'
)");
  EXPECT_EQ(cron_file_name(spec.job), "outlast-bertDOTv2") << "cron passes over names with dots";
}

TEST(CronFile, ALineThatCronWouldCutIsRefused) {
  BootSpec spec = plain_spec();
  spec.argv.push_back(std::string(900, 'x'));
  const Result<std::string> text = cron_file(spec);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().to_string().find("too long for cron"), std::string::npos);
}

// What cron hands to the shell: the text up to the first bare '%', with "\%" as '%' and, in some
// crons, "\\" as '\'.
std::string as_cron_reads(std::string_view command, bool halves_backslashes) {
  std::string read;
  for (std::size_t i = 0; i < command.size() && command[i] != '%'; ++i) {
    if (command[i] == '\\' && i + 1 < command.size()) {
      const char next = command[++i];
      if (next != '%' && !(next == '\\' && halves_backslashes)) read += '\\';
      read += next;
    } else {
      read += command[i];
    }
  }
  return read;
}

std::string said_by(std::vector<std::string> argv) {
  sys::RealWorld real;
  std::string text;
  const auto process = real.world().processes.spawn(
      {.argv = std::move(argv),
       .out = {.target = sys::Output::Sink([&](std::string_view piece) { text += piece; })}});
  EXPECT_TRUE(process) << process.error().to_string();
  if (!process) return {};
  EXPECT_TRUE((*process)->wait({}));
  return text;
}

TEST(CronFile, TheShellSeesEveryWordAsItWas) {
  const std::vector<std::string> words = hard_words();
  for (const std::string& folder : {std::string("/"), std::string("/tmp")}) {
    for (const bool halves : {false, true}) {
      for (std::size_t first = 0; first < words.size(); first += 12) {
        BootSpec spec = plain_spec();
        spec.working_folder = folder;
        spec.argv = {"/usr/bin/printf", "[%s]"};
        std::string wanted;
        for (std::size_t i = first; i < words.size() && i < first + 12; ++i) {
          spec.argv.push_back(words[i]);
          wanted += "[" + words[i] + "]";
        }
        const std::string line = line_of(cron_file(spec).value_or(""), "@reboot ada ");
        const std::string command = line.substr(std::string_view("@reboot ada ").size());
        EXPECT_EQ(said_by({"/bin/sh", "-c", as_cron_reads(command, halves)}), wanted) << line;
      }
    }
  }
}

TEST(SystemdUnit, IsTakenBySystemdItself) {
  if (said_by({"/bin/sh", "-c", "command -v systemd-analyze"}).empty()) {
    GTEST_SKIP() << "systemd-analyze is not installed";
  }
  std::string made = std::filesystem::temp_directory_path() / "outlast-boot-XXXXXX";
  ASSERT_NE(::mkdtemp(made.data()), nullptr);
  const std::filesystem::path folder = made;
  BootSpec spec = plain_spec();
  spec.user = "root";
  spec.working_folder = folder / "50% of it";
  std::filesystem::create_directories(spec.working_folder);
  spec.argv = {"/bin/sh"};
  for (const std::string& word : hard_words()) spec.argv.push_back(word);
  spec.path = "/opt/$x/%y:/\"q\"";
  const std::filesystem::path file = folder / systemd_unit_name(spec.job);
  std::ofstream(file) << systemd_unit(spec).value_or("");
  EXPECT_EQ(said_by({"/bin/sh", "-c",
                     "systemd-analyze verify --man=no " + shell_word(file.string()) +
                         " 2>&1 | grep -F " + shell_word(file.filename().string())}),
            "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace outlast::machine
