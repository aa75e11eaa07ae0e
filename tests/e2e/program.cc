#include "program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace outlast::e2e {
namespace {

[[noreturn]] void become(const std::vector<std::string>& argv, const How& how) {
  if (::chdir(OUTLAST_SOURCE_DIR) != 0) ::_exit(126);
  const std::string folder = std::filesystem::path(OUTLAST_PROGRAM).parent_path().string();
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (folder + ":" + (path == nullptr ? "" : path)).c_str(), 1);
  ::unsetenv("NO_COLOR");
  for (const auto& [name, value] : how.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

void redirect(int fd, const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || ::dup2(file, fd) < 0) ::_exit(125);
  ::close(file);
}

void wait_for(pid_t child, Ended& ended) {
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child) throw std::runtime_error("wait4 failed");
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.memory_kib_max = usage.ru_maxrss;
}

std::vector<std::string> with_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {OUTLAST_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

}  // namespace

Ended run(const std::vector<std::string>& argv, const How& how) {
  TemporaryFolder folder;
  // Files, not pipes: nothing can fill up and wait for us.
  const std::string in = folder.write("in", how.input);
  const std::string out = how.out_to.empty() ? folder.path() + "/out" : how.out_to;
  const std::string err = folder.path() + "/err";
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    redirect(STDIN_FILENO, in, O_RDONLY);
    redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT);
    become(argv, how);
  }
  Ended ended;
  wait_for(child, ended);
  if (how.out_to.empty()) ended.out = read_text(out);
  ended.err = read_text(err);
  return ended;
}

Ended outlast(const std::vector<std::string>& arguments, const How& how) {
  return run(with_program(arguments), how);
}

Ended outlast_on_terminal(const std::vector<std::string>& arguments, const How& how) {
  int terminal = -1;
  winsize size{};
  size.ws_col = 80;
  size.ws_row = 24;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty failed");
  if (child == 0) become(with_program(arguments), how);
  Ended ended;
  std::array<char, 4096> buffer{};
  // Reading a terminal whose last user has gone fails; that is its end.
  for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    ended.out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(terminal);
  wait_for(child, ended);
  return ended;
}

Running::Running(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ == 0) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDERR_FILENO, folder_.path() + "/err", O_WRONLY | O_CREAT);
    if (::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(125);
    become(with_program(arguments), {});
  }
  ::close(ends[1]);
  out_ = ends[0];
}

Running::~Running() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    (void)wait();
  }
  ::close(out_);
}

std::string Running::read_line() {
  std::string line;
  for (char c = '\0'; ::read(out_, &c, 1) == 1;) {
    line += c;
    if (c == '\n') break;
  }
  return line;
}

void Running::signal(int signal_number) const {
  if (child_ > 0) ::kill(child_, signal_number);
}

Ended Running::wait() {
  Ended ended;
  for (std::string line = read_line(); !line.empty(); line = read_line()) ended.out += line;
  wait_for(child_, ended);
  child_ = -1;
  ended.err = read_text(folder_.path() + "/err");
  return ended;
}

bool is_installed(const std::string& name) {
  return run({"sh", "-c", "command -v " + name}).exit_code == 0;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "outlast-e2e-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& content,
                                   bool executable) {
  const std::string file = path_ + "/" + name;
  std::ofstream(file, std::ios::binary) << content;
  if (executable) std::filesystem::permissions(file, std::filesystem::perms(0755));
  return file;
}

}  // namespace outlast::e2e
