// The suites that both worlds must pass, run in the real one.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "sys/testing/file_links_suite.h"
#include "sys/testing/file_system_suite.h"
#include "sys/testing/file_watch_suite.h"
#include "sys/testing/http_suite.h"
#include "sys/testing/local_socket_suite.h"
#include "sys/testing/own_signals_suite.h"
#include "sys/testing/process_family_suite.h"
#include "sys/testing/process_suite.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/threads_suite.h"

namespace outlast::sys::testing {

INSTANTIATE_TEST_SUITE_P(Real, FileSystemSuite, ::testing::Values(real_world()));
INSTANTIATE_TEST_SUITE_P(Real, FileWatchSuite, ::testing::Values(real_world()));
INSTANTIATE_TEST_SUITE_P(Real, HttpSuite, ::testing::Values(real_world()));
INSTANTIATE_TEST_SUITE_P(Real, LocalSocketSuite, ::testing::Values(real_world()));
INSTANTIATE_TEST_SUITE_P(Real, OwnSignalsSuite,
                         ::testing::Values(SignalWorld{
                             .maker = real_world(), .send = [](int n) { ::kill(::getpid(), n); }}));
INSTANTIATE_TEST_SUITE_P(
    Real, ProcessFamilySuite,
    ::testing::Values(FamilyWorld{
        .maker = real_world(), .launcher = [](const std::string& scratch) {
          return std::vector<std::string>{
              "sh", "-c",
              "cd " + scratch +
                  "; sh -c 'trap \"echo heard\" USR1; exec 5<read 6>open; echo ready; "
                  "while :; do sleep 0.01; done' & wait"};
        }}));
INSTANTIATE_TEST_SUITE_P(Real, ThreadsSuite, ::testing::Values(real_world()));
INSTANTIATE_TEST_SUITE_P(
    Real, ProcessSuite,
    ::testing::Values(ProcessWorld{
        .maker = real_world(),
        .programs = {
            .exits_with_3 = {"sh", "-c", "exit 3"},
            .runs_for_an_hour = {"sleep", "3600"},
            .takes_a_moment_after_term =
                {"sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"},
            .ignores_term = {"sh", "-c", "trap '' TERM; echo ready; exec sleep 3600"},
            .prints_100_kib = {"sh", "-c", "head -c 102400 /dev/zero | tr '\\0' x"}}}));

}  // namespace outlast::sys::testing
