#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "sys/file_ops.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/testing/world_maker.h"

// What every ProcessFamilies must do.
namespace outlast::sys::testing {

struct FamilyWorld {
  WorldMaker maker;
  // The command of a launcher that handles no signal and does not end. It starts a program that
  // handles SIGUSR1, opens "read" for reading and "open" for writing, both in the scratch folder,
  // prints "ready", and prints "heard" whenever it gets the signal.
  std::function<std::vector<std::string>(const std::string& scratch)> launcher;
  friend std::ostream& operator<<(std::ostream& out, const FamilyWorld& world) {
    return out << world.maker.name;
  }
};

class ProcessFamilySuite : public ::testing::TestWithParam<FamilyWorld> {
 protected:
  using Members = std::vector<FamilyMember>;
  using Paths = std::vector<std::string>;

  // Runs the launcher until it has said `word`.
  static void hear(World& world, Process& process, const std::string& text, std::string_view word) {
    while (text.find(word) == std::string::npos) {
      const auto ended =
          process.wait({.deadline = world.clock.mono_now() + std::chrono::milliseconds(20)});
      ASSERT_FALSE(ended) << to_string(*ended);
    }
  }
  static std::unique_ptr<Process> start(World& world, const std::string& scratch,
                                        std::string& text) {
    EXPECT_TRUE(write_file_atomically(world.files, scratch + "/read", as_bytes("text")));
    auto process = world.processes.spawn(
        {.argv = GetParam().launcher(scratch),
         .out = {.target = Output::Sink([&text](std::string_view piece) { text += piece; })}});
    EXPECT_TRUE(process) << process.error().to_string();
    if (process) hear(world, **process, text, "ready");
    return process ? *std::move(process) : nullptr;
  }
  static Members family(World& world, int pid, const std::string& folder) {
    auto members = world.process_families.family(pid, folder);
    EXPECT_TRUE(members) << members.error().to_string();
    return members ? *std::move(members) : Members();
  }
  // What the program that handles SIGUSR1 is writing.
  static Paths writes(World& world, const Process& process, const std::string& folder) {
    const auto receiver = pick_receiver(family(world, process.pid(), folder), SIGUSR1);
    EXPECT_TRUE(receiver);
    return receiver ? receiver->writes : Paths{"nobody"};
  }
};

TEST_P(ProcessFamilySuite, TheSignalIsForTheTopmostThatHandlesIt) {
  GetParam().maker.run([](World& world, const std::string& scratch) {
    std::string text;
    const auto process = start(world, scratch, text);
    ASSERT_TRUE(process);
    const Members members = family(world, process->pid(), scratch);
    ASSERT_GE(members.size(), 2U);
    EXPECT_EQ(members[0].pid, process->pid());
    EXPECT_FALSE(members[0].catches(SIGUSR1));
    EXPECT_EQ(members[0].writes, Paths());
    const auto receiver = pick_receiver(members, SIGUSR1);
    ASSERT_TRUE(receiver);
    EXPECT_EQ(receiver->parent, process->pid());
    EXPECT_EQ(receiver->pid, members[1].pid);
    EXPECT_FALSE(receiver->catches(SIGTERM));
    EXPECT_FALSE(receiver->ignores(SIGTERM));
    EXPECT_FALSE(pick_receiver(members, SIGTERM));
    // Whoever had the number before is not the same process.
    FamilyMember predecessor = *receiver;
    predecessor.started -= 1;
    ASSERT_TRUE(world.process_families.signal(predecessor, SIGKILL));
    ASSERT_TRUE(world.process_families.signal(*receiver, SIGUSR1));
    hear(world, *process, text, "heard");
  });
}

TEST_P(ProcessFamilySuite, WhatIsOpenForWritingIsKnownByTheNameItHasNow) {
  GetParam().maker.run([](World& world, const std::string& scratch) {
    std::string text;
    const auto process = start(world, scratch, text);
    ASSERT_TRUE(process);
    ASSERT_TRUE(world.files.make_dir(scratch + "/op"));
    EXPECT_EQ(writes(world, *process, scratch), Paths{scratch + "/open"});
    EXPECT_EQ(writes(world, *process, scratch + "/"), Paths{scratch + "/open"});
    EXPECT_EQ(writes(world, *process, scratch + "/op"), Paths());
    EXPECT_EQ(writes(world, *process, scratch + "/absent"), Paths());
    EXPECT_EQ(writes(world, *process, ""), Paths());
    ASSERT_TRUE(world.files.rename(scratch + "/open", scratch + "/op/ened"));
    EXPECT_EQ(writes(world, *process, scratch), Paths{scratch + "/op/ened"});
    ASSERT_TRUE(world.files.rename(scratch + "/op", scratch + "/moved"));
    EXPECT_EQ(writes(world, *process, scratch), Paths{scratch + "/moved/ened"});
    ASSERT_TRUE(world.files.remove_file(scratch + "/moved/ened"));
    EXPECT_EQ(writes(world, *process, scratch), Paths());
  });
}

TEST_P(ProcessFamilySuite, WhoHasEndedIsInNoFamilyAndGetsNoSignal) {
  GetParam().maker.run([](World& world, const std::string& scratch) {
    std::string text;
    const auto process = start(world, scratch, text);
    ASSERT_TRUE(process);
    const Members members = family(world, process->pid(), scratch);
    ASSERT_FALSE(members.empty());
    ASSERT_TRUE(process->signal_group(SIGKILL));
    EXPECT_EQ(to_string(process->wait({}).value()), "killed by SIGKILL");
    EXPECT_TRUE(family(world, process->pid(), scratch).empty());
    EXPECT_TRUE(world.process_families.signal(members[0], SIGUSR1));
  });
}

}  // namespace outlast::sys::testing
