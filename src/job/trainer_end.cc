#include "job/trainer_end.h"

#include <fmt/core.h>
#include <signal.h>

#include <array>
#include <string>
#include <string_view>

#include "job/spec.h"

namespace outlast::job {
namespace {

struct SignalName {
  int number;
  std::string_view name;
};

// Those that trainers die of.
constexpr std::array<SignalName, 17> kSignalNames = {{
    {SIGHUP, "SIGHUP"},
    {SIGINT, "SIGINT"},
    {SIGQUIT, "SIGQUIT"},
    {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},
    {SIGABRT, "SIGABRT"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"},
    {SIGUSR1, "SIGUSR1"},
    {SIGSEGV, "SIGSEGV"},
    {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"},
    {SIGTERM, "SIGTERM"},
    {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"},
}};

// A shell that waits for a program that was killed exits with this and the signal's number.
constexpr int kShellSignalBase = 128;

std::string signal_name(int number) {
  for (const SignalName& signal : kSignalNames) {
    if (signal.number == number) return std::string(signal.name);
  }
  return fmt::format("signal {}", number);
}

// The signal that ended it or, under a shell, the program that the shell ran; 0 if none did.
int ending_signal(const TrainerExit& exit) {
  if (exit.by_signal) return exit.value;
  for (const SignalName& signal : kSignalNames) {
    if (exit.value == kShellSignalBase + signal.number) return signal.number;
  }
  return 0;
}

std::string advice(const TrainerExit& exit) {
  switch (ending_signal(exit)) {
    case SIGKILL:
      return "; most often the machine had run out of memory";
    case SIGUSR1:
      return "; it was asked to save by SIGUSR1 and does not handle it";
    case SIGXFSZ:
      return "; a file was larger than the limit allows";
    default:
      break;
  }
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  if (exit.by_signal) return "";
  if (exit.value == kNotExecutable) return "; the shell cannot execute the command";
  if (exit.value == kNotFound) return "; the shell does not find the command";
  return "";
}

}  // namespace

std::string describe(const TrainerExit& exit) {
  if (exit.by_signal) return signal_name(exit.value);
  const int signal = ending_signal(exit);
  if (signal == 0) return fmt::format("exit code {}", exit.value);
  return fmt::format("exit code {} ({})", exit.value, signal_name(signal));
}

std::string_view to_string(EndMeaning meaning) {
  switch (meaning) {
    case EndMeaning::kDone:
      return "done";
    case EndMeaning::kLeft:
      return "left";
    case EndMeaning::kFailed:
      return "failed";
    case EndMeaning::kNeverAgain:
      return "never-again";
  }
  return "failed";
}

TrainerEnd judge_end(const TrainerExit& exit, bool told_to_leave, const ExitCodes& codes) {
  const std::string how = describe(exit);
  if (told_to_leave) {
    return {.meaning = EndMeaning::kLeft,
            .why = fmt::format("the trainer left as it was asked to, with {}", how)};
  }
  const bool has_code = !exit.by_signal;
  if (has_code && exit.value == 0) {
    return {.meaning = EndMeaning::kDone, .why = "the trainer is done: it ended with exit code 0"};
  }
  if (has_code && exit.value == codes.left) {
    return {.meaning = EndMeaning::kLeft,
            .why = fmt::format("the trainer saved and left by itself: {} means that", how)};
  }
  if (has_code && exit.value == codes.never) {
    return {.meaning = EndMeaning::kNeverAgain,
            .why = fmt::format("the trainer failed for good: {} means that trying again is no use",
                               how)};
  }
  return {.meaning = EndMeaning::kFailed,
          .why = fmt::format("the trainer failed with {}{}", how, advice(exit))};
}

}  // namespace outlast::job
