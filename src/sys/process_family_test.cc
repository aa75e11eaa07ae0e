#include "sys/process_family.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <vector>

namespace outlast::sys {
namespace {

constexpr std::uint64_t bit(int signal_number) {
  return std::uint64_t{1} << static_cast<unsigned>(signal_number - 1);
}

int receiver_of(const std::vector<FamilyMember>& family, int signal_number) {
  const auto receiver = pick_receiver(family, signal_number);
  return receiver ? receiver->pid : 0;
}

TEST(PickReceiver, ALauncherThatHandlesItPassesItOn) {
  const std::vector<FamilyMember> family = {{.pid = 10, .caught = bit(SIGUSR1) | bit(SIGTERM)},
                                            {.pid = 11, .parent = 10, .caught = bit(SIGUSR1)}};
  EXPECT_EQ(receiver_of(family, SIGUSR1), 10);
}

TEST(PickReceiver, AShellThatDoesNotHandleItWouldDieOfIt) {
  const std::vector<FamilyMember> family = {
      {.pid = 10, .caught = bit(SIGCHLD)},
      {.pid = 11, .parent = 10, .caught = bit(SIGUSR1) | bit(64)},
      {.pid = 12, .parent = 11, .caught = bit(SIGUSR1)}};  // a worker that inherited the handler
  EXPECT_EQ(receiver_of(family, SIGUSR1), 11);
  EXPECT_EQ(receiver_of(family, 64), 11);
}

TEST(PickReceiver, NobodyIfNobodyHandlesIt) {
  EXPECT_EQ(receiver_of({{.pid = 10, .caught = bit(SIGUSR2)}, {.pid = 11}}, SIGUSR1), 0);
  EXPECT_EQ(receiver_of({{.pid = 10, .caught = ~std::uint64_t{0}}}, 0), 0);
  EXPECT_EQ(receiver_of({{.pid = 10, .caught = ~std::uint64_t{0}}}, 65), 0);
  EXPECT_EQ(receiver_of({}, SIGUSR1), 0);
}

}  // namespace
}  // namespace outlast::sys
