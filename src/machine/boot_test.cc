#include "machine/boot.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/result.h"
#include "machine/boot_unit.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::machine {
namespace {

constexpr char kUnit[] = "/etc/systemd/system/outlast-j.service";
constexpr char kLink[] = "/etc/systemd/system/multi-user.target.wants/outlast-j.service";
constexpr char kCron[] = "/etc/cron.d/outlast-j";

BootSpec boot_spec() {
  return {.job = JobName("j"),
          .argv = {"/usr/bin/outlast", "run", "--job", "j", "--", "it's"},
          .working_folder = "/root"};
}

// A machine with a little of systemd: "enable" makes the link, if the unit is there and has been
// read, and everything can be made to fail.
struct Scene {
  explicit Scene(std::uint64_t seed = 3) : simulation({.seed = seed}) {}

  void on_machine(const std::vector<std::string>& folders,
                  const std::function<void(sys::World&)>& body) {
    machine.processes().install("systemctl",
                                [this](sim::SimProcessSelf& self) { return systemctl(self); });
    const sim::Outcome outcome = simulation.run([&] {
      machine.boot(
          [&](sys::World& world) {
            for (const std::string& folder : folders) {
              ASSERT_TRUE(sys::make_dirs(world.files, folder));
            }
            body(world);
          },
          {});
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }

  int systemctl(sim::SimProcessSelf& self) {
    const std::vector<std::string>& argv = self.spec().argv;
    called.push_back(argv.at(1));
    if (argv.at(1) == fails) {
      self.err("some words\nFailed to do it: Access denied\n");
      return 1;
    }
    sys::FileSystem& files = machine.world().files;
    if (argv.at(1) == "enable") {
      if (called.size() < 2 || !files.stat("/etc/systemd/system/" + argv.at(2))) return 1;
      (void)sys::make_dirs(files, sys::parent_path(kLink));
      (void)files.make_symlink("/etc/systemd/system/" + argv.at(2),
                               sys::join_path(sys::parent_path(kLink), argv.at(2)));
    }
    return 0;
  }

  static void be_user(sys::World& world, std::string_view ids) {
    ASSERT_TRUE(sys::make_dirs(world.files, "/proc/self"));
    const std::string text = "Name:\toutlast\nUid:\t" + std::string(ids) + "\nGid:\t0\t0\t0\t0\n";
    ASSERT_TRUE(sys::write_file_atomically(world.files, "/proc/self/status", as_bytes(text)));
  }

  sim::Simulation simulation;
  sim::Machine& machine = simulation.add_machine("m1");
  std::string fails = {};
  std::vector<std::string> called = {};
};

std::string text_at(sys::World& world, const std::string& path) {
  return sys::read_file(world.files, path, 1U << 20U).value_or("");
}

const std::vector<std::string> kSystemdFolders = {"/run/systemd/system", "/etc/systemd/system",
                                                  "/etc/cron.d"};

TEST(Boot, WhereSystemdRunsAUnitIsWrittenAndEnabled) {
  Scene scene;
  scene.on_machine(kSystemdFolders, [&](sys::World& world) {
    Scene::be_user(world, "1000\t0\t0\t0");  // sudo of a kind
    const Result<BootInstalled> installed = install_boot(world, boot_spec(), {});
    ASSERT_TRUE(installed) << installed.error().to_string();
    EXPECT_EQ(installed->kind, BootKind::kSystemd);
    EXPECT_EQ(installed->file, kUnit);
    EXPECT_EQ(installed->environment_file, "/etc/outlast/j.env");
    EXPECT_EQ(text_at(world, kUnit), systemd_unit(boot_spec()).value_or("?"));
    EXPECT_EQ(scene.called, (std::vector<std::string>{"daemon-reload", "enable"}));
    EXPECT_FALSE(world.files.stat(kCron));
    EXPECT_FALSE(world.files.stat("/etc/outlast")) << "that is the user's";
    EXPECT_TRUE(install_boot(world, boot_spec(), {})) << "again is as well";
  });
}

TEST(Boot, WhatWasInstalledIsThereAfterAPowerFailure) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Scene scene(seed);
    scene.on_machine(kSystemdFolders, [&](sys::World& world) {
      ASSERT_TRUE(install_boot(world, boot_spec(), {}));
      scene.machine.crash();
    });
    EXPECT_TRUE(scene.machine.disk().stat(kUnit)) << seed;
    EXPECT_TRUE(scene.machine.disk().stat(kLink)) << seed;
  }
}

TEST(Boot, WhereOnlyCronIsItGetsAFile) {
  Scene scene;
  scene.on_machine({"/etc/cron.d"}, [&](sys::World& world) {
    const Result<BootInstalled> installed = install_boot(world, boot_spec(), {});
    ASSERT_TRUE(installed) << installed.error().to_string();
    EXPECT_EQ(installed->kind, BootKind::kCron);
    EXPECT_EQ(installed->file, kCron);
    EXPECT_EQ(text_at(world, kCron), cron_file(boot_spec()).value_or("?"));
    const auto info = world.files.stat(kCron);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->mode, 0644U);
    EXPECT_TRUE(scene.called.empty());
  });
}

TEST(Boot, WhereNothingIsTheSentenceSaysWhatToDo) {
  Scene scene;
  scene.on_machine({}, [&](sys::World& world) {
    const Result<BootInstalled> installed = install_boot(world, boot_spec(), {});
    ASSERT_FALSE(installed);
    EXPECT_EQ(installed.error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(
        installed.error().to_string(),
        "nothing here runs commands at boot, neither systemd (/run/systemd/system is missing) "
        "nor cron (/etc/cron.d is missing): have whatever starts this machine or container "
        "run \"cd /root && /usr/bin/outlast run --job j -- 'it'\\''s'\"");
  });
}

TEST(Boot, WhoIsNotRootChangesNothing) {
  Scene scene;
  scene.on_machine(kSystemdFolders, [&](sys::World& world) {
    Scene::be_user(world, "1000\t1000\t1000\t1000");
    const Result<BootInstalled> installed = install_boot(world, boot_spec(), {});
    ASSERT_FALSE(installed);
    EXPECT_EQ(installed.error().code(), ErrorCode::kPermissionDenied);
    EXPECT_EQ(installed.error().to_string(),
              "only root may have a command run at every boot: run the same command with sudo");
    EXPECT_FALSE(world.files.stat(kUnit));
    EXPECT_TRUE(scene.called.empty());
    const auto removed = remove_boot(world, JobName("j"), {});
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code(), ErrorCode::kPermissionDenied);
  });
}

TEST(Boot, ABadCommandChangesNothing) {
  Scene scene;
  scene.on_machine(kSystemdFolders, [&](sys::World& world) {
    BootSpec spec = boot_spec();
    spec.argv.emplace_back("a\nb");
    const Result<BootInstalled> installed = install_boot(world, spec, {});
    ASSERT_FALSE(installed);
    EXPECT_EQ(installed.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_FALSE(world.files.stat(kUnit));
  });
}

TEST(Boot, WhatSystemctlSaysIsPassedOnAndASecondCallRepairs) {
  Scene scene;
  scene.on_machine(kSystemdFolders, [&](sys::World& world) {
    scene.fails = "enable";
    const Result<BootInstalled> installed = install_boot(world, boot_spec(), {});
    ASSERT_FALSE(installed);
    EXPECT_EQ(installed.error().to_string(),
              "have the job 'j' started at every boot: 'systemctl enable outlast-j.service' exited "
              "with 1: Failed to do it: Access denied");
    scene.fails.clear();
    EXPECT_TRUE(install_boot(world, boot_spec(), {}));
    EXPECT_TRUE(world.files.stat(kLink));
  });
}

TEST(Boot, RemovingUndoesItAndIsNoErrorTwice) {
  Scene scene;
  scene.on_machine(kSystemdFolders, [&](sys::World& world) {
    ASSERT_TRUE(install_boot(world, boot_spec(), {}));
    scene.called.clear();
    auto removed = remove_boot(world, JobName("j"), {});
    ASSERT_TRUE(removed) << removed.error().to_string();
    EXPECT_EQ(*removed, (std::vector<std::string>{kLink, kUnit}));
    EXPECT_EQ(scene.called, (std::vector<std::string>{"daemon-reload"}));
    EXPECT_FALSE(world.files.stat(kUnit));
    EXPECT_FALSE(world.files.stat(kLink));
    removed = remove_boot(world, JobName("j"), {});
    ASSERT_TRUE(removed);
    EXPECT_TRUE(removed->empty());
    EXPECT_EQ(scene.called.size(), 1U);
  });
}

TEST(Boot, RemovingFindsWhatCronHas) {
  Scene scene;
  scene.on_machine({"/etc/cron.d"}, [&](sys::World& world) {
    ASSERT_TRUE(install_boot(world, boot_spec(), {}));
    const auto removed = remove_boot(world, JobName("j"), {});
    ASSERT_TRUE(removed) << removed.error().to_string();
    EXPECT_EQ(*removed, (std::vector<std::string>{kCron}));
  });
}

}  // namespace
}  // namespace outlast::machine
