#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace outlast::e2e {

struct Ended {
  int exit_code = 0;  // 128 + the signal's number if a signal ended it
  std::string out;
  std::string err;
  long memory_kib_max = 0;
};

struct How {
  std::string input;                                             // standard input
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  std::string out_to;                                            // a path instead of capturing
};

// Runs the program that was built, from the source folder.
Ended outlast(const std::vector<std::string>& arguments, const How& how = {});
// Any other program; argv[0] is searched in PATH, where the program that was built comes first.
Ended run(const std::vector<std::string>& argv, const How& how = {});
// On a terminal of 80 columns: everything that appears there.
Ended outlast_on_terminal(const std::vector<std::string>& arguments, const How& how = {});

// A folder that is removed, with its files, at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Writes a file in it and returns its path.
  std::string write(const std::string& name, const std::string& content, bool executable = false);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The program that was built, while it runs. Killed at the end if it still does.
class Running {
 public:
  explicit Running(const std::vector<std::string>& arguments);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // The next line of its standard output, waiting for it; "" when there are no more.
  std::string read_line();
  void signal(int signal_number) const;
  // Waits for its end. What was not read of its output is in `out`.
  Ended wait();

 private:
  TemporaryFolder folder_;
  pid_t child_ = -1;
  int out_ = -1;
};

// Whether a program of this name is in PATH.
bool is_installed(const std::string& name);

std::string read_text(const std::string& path);

}  // namespace outlast::e2e
