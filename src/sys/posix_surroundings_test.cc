#include <gtest/gtest.h>
#include <stdlib.h>  // setenv
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "sys/console_log.h"
#include "sys/file_ops.h"
#include "sys/posix_clock.h"
#include "sys/posix_console.h"
#include "sys/posix_environment.h"
#include "sys/posix_file_system.h"

namespace outlast::sys {
namespace {

TEST(PosixEnvironment, TellsSetFromEmptyFromAbsent) {
  ::setenv("OUTLAST_TEST_SET", "value=with=equals", 1);
  ::setenv("OUTLAST_TEST_EMPTY", "", 1);
  const auto environment = make_posix_environment();
  EXPECT_EQ(environment->get("OUTLAST_TEST_SET"), "value=with=equals");
  EXPECT_EQ(environment->get("OUTLAST_TEST_EMPTY"), "");
  EXPECT_EQ(environment->get("OUTLAST_TEST_ABSENT"), std::nullopt);
  // Fixed at start.
  ::setenv("OUTLAST_TEST_SET", "changed", 1);
  EXPECT_EQ(environment->get("OUTLAST_TEST_SET"), "value=with=equals");
}

TEST(PosixEnvironment, KnowsTheMachine) {
  const auto environment = make_posix_environment();
  EXPECT_TRUE(environment->working_dir().starts_with('/'));
  EXPECT_FALSE(environment->host_name().empty());
  EXPECT_GE(environment->processor_count(), 1);
  EXPECT_NE(environment->entropy(), environment->entropy());
}

TEST(PosixFileSystem, AFullDiskIsNoSpace) {
  const auto fs = make_posix_file_system();
  const auto full = fs->open("/dev/full", OpenMode::kWrite);
  ASSERT_TRUE(full);
  const auto written = (*full)->write_at(as_bytes("x"), 0);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(written.error().to_string(),
            "write /dev/full: No space left on device; make room there and try again");
}

TEST(PosixFileSystem, ReadsFilesThatDoNotKnowTheirSize) {
  const auto fs = make_posix_file_system();
  const auto text = read_file(*fs, "/proc/self/status", 1U << 20U);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Name:"), std::string::npos);
}

// Runs `body` with standard output sent to `path` and returns how it went.
int with_stdout_to(const char* path, int (*body)()) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::freopen(path, "w", stdout) == nullptr) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

TEST(PosixConsole, RemembersThatItCouldNotWrite) {
  EXPECT_EQ(with_stdout_to("/dev/full",
                           [] {
                             const auto console = make_posix_console();
                             if (!console->out_status()) return 1;
                             console->out("text");
                             const auto status = console->out_status();
                             return !status && status.error().code() == ErrorCode::kNoSpace ? 0 : 2;
                           }),
            0);
  EXPECT_EQ(with_stdout_to("/dev/null",
                           [] {
                             const auto console = make_posix_console();
                             console->out("text");
                             return console->out_status() && !console->out_is_terminal() ? 0 : 1;
                           }),
            0);
}

class MemoryConsole : public Console {
 public:
  explicit MemoryConsole(bool terminal) : terminal_(terminal) {}
  std::string text;
  void out(std::string_view) override {}
  void err(std::string_view piece) override { text += piece; }
  Result<void> out_status() override { return {}; }
  bool out_is_terminal() override { return terminal_; }
  bool err_is_terminal() override { return terminal_; }
  int columns() override { return 80; }

 private:
  bool terminal_;
};

TEST(ConsoleLog, IsTextOnATerminalAndJsonElsewhere) {
  const auto clock = make_posix_clock();
  MemoryConsole terminal(true);
  ConsoleLog text(terminal, *clock, LogLevel::kInfo);
  Logger(text).info("job.started", {{"job", "j"}});
  Logger(text).debug("not.shown");
  EXPECT_TRUE(terminal.text.ends_with(" job.started job=j\n")) << terminal.text;

  MemoryConsole pipe(false);
  ConsoleLog json(pipe, *clock, LogLevel::kInfo);
  Logger(json).warning("job.slow", {{"job", "j"}});
  EXPECT_TRUE(pipe.text.starts_with(R"({"event":"job.slow","job":"j","level":"warning","time":"2)"))
      << pipe.text;
}

}  // namespace
}  // namespace outlast::sys
