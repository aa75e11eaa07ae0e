#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

enum class Match {
  kWord,       // the identifier, wherever it stands
  kStdName,    // std::identifier
  kCall,       // identifier( called as a free function: plain, ::identifier or std::identifier
  kPosixCall,  // the same, but not std::identifier, which is something else
  kInclude,    // #include <word, or a longer path that starts with it
};

struct Forbidden {
  std::string_view rule;
  Match match;
  std::string_view word;
};

constexpr Forbidden kForbidden[] = {
    {"real-time", Match::kWord, "system_clock"},
    {"real-time", Match::kWord, "steady_clock"},
    {"real-time", Match::kWord, "high_resolution_clock"},
    {"real-time", Match::kWord, "gettimeofday"},
    {"real-time", Match::kWord, "clock_gettime"},
    {"real-time", Match::kWord, "timespec_get"},
    {"real-time", Match::kCall, "now"},
    {"real-time", Match::kCall, "time"},
    {"sleep", Match::kWord, "this_thread"},
    {"sleep", Match::kWord, "usleep"},
    {"sleep", Match::kWord, "nanosleep"},
    {"sleep", Match::kWord, "clock_nanosleep"},
    {"sleep", Match::kCall, "sleep"},
    {"random", Match::kWord, "random_device"},
    {"random", Match::kWord, "uniform_int_distribution"},
    {"random", Match::kWord, "uniform_real_distribution"},
    {"random", Match::kWord, "getrandom"},
    {"random", Match::kWord, "getentropy"},
    {"random", Match::kCall, "rand"},
    {"random", Match::kCall, "srand"},
    {"environment", Match::kWord, "getenv"},
    {"environment", Match::kWord, "secure_getenv"},
    {"environment", Match::kWord, "setenv"},
    {"environment", Match::kWord, "unsetenv"},
    {"environment", Match::kWord, "putenv"},
    {"environment", Match::kWord, "environ"},
    {"thread", Match::kStdName, "thread"},
    {"thread", Match::kStdName, "jthread"},
    {"thread", Match::kStdName, "async"},
    {"thread", Match::kWord, "pthread_create"},
    {"lock", Match::kStdName, "mutex"},
    {"lock", Match::kStdName, "recursive_mutex"},
    {"lock", Match::kStdName, "timed_mutex"},
    {"lock", Match::kStdName, "shared_mutex"},
    {"lock", Match::kStdName, "condition_variable"},
    {"lock", Match::kStdName, "condition_variable_any"},
    {"process", Match::kPosixCall, "fork"},
    {"process", Match::kPosixCall, "vfork"},
    {"process", Match::kPosixCall, "execv"},
    {"process", Match::kPosixCall, "execve"},
    {"process", Match::kPosixCall, "execvp"},
    {"process", Match::kPosixCall, "execvpe"},
    {"process", Match::kPosixCall, "execl"},
    {"process", Match::kPosixCall, "execlp"},
    {"process", Match::kPosixCall, "fexecve"},
    {"process", Match::kWord, "posix_spawn"},
    {"process", Match::kWord, "posix_spawnp"},
    {"process", Match::kPosixCall, "popen"},
    {"process", Match::kCall, "system"},
    {"socket", Match::kPosixCall, "socket"},
    {"socket", Match::kPosixCall, "connect"},
    {"socket", Match::kPosixCall, "bind"},
    {"socket", Match::kPosixCall, "listen"},
    {"socket", Match::kPosixCall, "accept"},
    {"socket", Match::kWord, "getaddrinfo"},
    {"socket", Match::kInclude, "sys/socket.h"},
    {"socket", Match::kInclude, "netinet/"},
    {"socket", Match::kInclude, "arpa/"},
    {"socket", Match::kInclude, "netdb.h"},
    {"socket", Match::kInclude, "curl/"},
    {"socket", Match::kInclude, "boost/asio"},
    {"file", Match::kWord, "ifstream"},
    {"file", Match::kWord, "ofstream"},
    {"file", Match::kWord, "fstream"},
    {"file", Match::kWord, "fopen"},
    {"file", Match::kWord, "freopen"},
    {"file", Match::kWord, "filesystem"},
    {"file", Match::kInclude, "fcntl.h"},
    {"file", Match::kInclude, "unistd.h"},
    {"file", Match::kInclude, "dirent.h"},
    {"file", Match::kInclude, "sys/stat.h"},
    {"file", Match::kInclude, "sys/mman.h"},
    {"print", Match::kStdName, "cout"},
    {"print", Match::kStdName, "cerr"},
    {"print", Match::kStdName, "clog"},
    {"print", Match::kCall, "printf"},
    {"print", Match::kCall, "fprintf"},
    {"print", Match::kCall, "puts"},
    {"print", Match::kCall, "fputs"},
    {"print", Match::kCall, "putchar"},
};

struct Advice {
  std::string_view rule;
  std::string_view instead;
};

constexpr Advice kAdvice[] = {
    {"real-time", "take time from sys::Clock, or in job/ from the event"},
    {"sleep", "wait through sys::Clock or an Inbox"},
    {"random", "draw from the Random that was passed in"},
    {"environment", "read it through sys::Environment"},
    {"thread", "start threads through sys::Threads"},
    {"lock", "send a message through an Inbox, or use Mutex of base/mutex.h"},
    {"process", "start processes through sys::ProcessLauncher"},
    {"socket", "only src/sys/posix_* talks to the network"},
    {"file", "reach files through sys::FileSystem"},
    {"print", "write through sys::Console or a Logger"},
};

std::string_view advice(std::string_view rule) {
  for (const Advice& row : kAdvice) {
    if (row.rule == rule) return row.instead;
  }
  return "";
}

// The SDK is linked into trainers, which have nothing else of ours and are not simulated.
bool may_touch_the_world(std::string_view path) {
  return !path.starts_with("src/") || path.starts_with("src/sys/posix_") ||
         path.starts_with("src/sdk/") || path.ends_with("_test.cc");
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

std::string_view last_word(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_identifier_char(text[begin - 1])) --begin;
  return text.substr(begin);
}

// What stands before a name: "std" for std::name, "" for ::name and plain name, else the qualifier.
std::string_view qualifier(std::string_view before) {
  if (!before.ends_with("::")) return "";
  before.remove_suffix(2);
  return last_word(before);
}

// Whether the name after `before` is called as a free function, rather than declared ("Result<void>
// connect("), a member ("random.fork(") or of some other namespace ("sim::connect(").
bool is_free_call(std::string_view before, bool in_std) {
  const std::string_view space = qualifier(before);
  if (!space.empty()) return in_std && space == "std";
  if (before.ends_with("::")) return true;
  before = trim_right(before);
  if (before.ends_with('.') || before.ends_with("->") || before.ends_with('>')) return false;
  if (before.ends_with('*') || before.ends_with('&')) {
    before.remove_suffix(1);  // "File* open(" declares, "a * rand()" and "!*open(" call
    return before.empty() || !(is_identifier_char(before.back()) || before.back() == '>');
  }
  const std::string_view word = last_word(before);
  return word.empty() || word == "return" || word == "else" || word == "do" || word == "throw" ||
         word == "case" || word == "and" || word == "or" || word == "not";
}

bool matches_at(const Forbidden& row, std::string_view code, std::size_t at) {
  const std::string_view before = code.substr(0, at);
  const std::string_view after = code.substr(at + row.word.size());
  if (!before.empty() && is_identifier_char(before.back())) return false;
  if (row.match != Match::kInclude && !after.empty() && is_identifier_char(after.front())) {
    return false;
  }
  const bool called = after.starts_with('(');
  // Any clock's now() reads real time; a member now() is a sys::Clock of sorts.
  if (row.word == "now") return called && before.ends_with("::");
  // A path is only a name; everything else in the namespace reaches for the disk.
  if (row.word == "filesystem" && after.starts_with("::path")) return false;
  switch (row.match) {
    case Match::kWord:
      return !before.ends_with('<') && !before.ends_with('/');  // an #include is judged as such
    case Match::kStdName:
      return qualifier(before) == "std";
    case Match::kCall:
      return called && is_free_call(before, true);
    case Match::kPosixCall:
      return called && is_free_call(before, false);
    case Match::kInclude:
      return before.ends_with("#include <");
  }
  return false;
}

void find_forbidden(const SourceFile& file, std::vector<Finding>& findings) {
  for (const Forbidden& row : kForbidden) {
    for (std::size_t at = file.code.find(row.word); at != std::string::npos;
         at = file.code.find(row.word, at + 1)) {
      if (!matches_at(row, file.code, at)) continue;
      findings.push_back(
          {file.path, line_at(file.code, at), std::string(row.rule),
           "'" + std::string(row.word) + "' here: " + std::string(advice(row.rule))});
    }
  }
}

// The end of the block whose '{' is the first one at or after `at`.
std::size_t block_end(std::string_view code, std::size_t at) {
  int depth = 0;
  for (at = code.find('{', at); at < code.size(); ++at) {
    if (code[at] == '{') ++depth;
    if (code[at] == '}' && --depth == 0) return at;
  }
  return code.size();
}

void find_swallowed_exceptions(const SourceFile& file, std::vector<Finding>& findings) {
  constexpr std::string_view kCatch = "catch (...)";
  for (std::size_t at = file.code.find(kCatch); at != std::string::npos;
       at = file.code.find(kCatch, at + 1)) {
    const std::string_view block =
        std::string_view(file.code).substr(at, block_end(file.code, at) - at);
    if (block.find("throw;") != std::string_view::npos) continue;
    if (block.find("current_exception") != std::string_view::npos) continue;
    findings.push_back({file.path, line_at(file.code, at), "catch-all",
                        "catch (...) without throw; would swallow the end of a simulated machine: "
                        "catch what is expected"});
  }
}

// Whether every '{' that is open at `at` belongs to a namespace.
bool at_file_level(std::string_view code, std::size_t at) {
  std::vector<bool> namespaces;
  for (std::size_t i = 0; i < at; ++i) {
    if (code[i] == '}' && !namespaces.empty()) namespaces.pop_back();
    if (code[i] != '{') continue;
    const std::string_view before = code.substr(0, i);
    const std::size_t start = before.find_last_of(";{}");
    const std::string_view head = before.substr(start == std::string_view::npos ? 0 : start + 1);
    namespaces.push_back(head.find("namespace") != std::string_view::npos);
  }
  for (const bool is_namespace : namespaces) {
    if (!is_namespace) return false;
  }
  return true;
}

void find_using_namespace(const SourceFile& file, std::vector<Finding>& findings) {
  constexpr std::string_view kUsing = "using namespace ";
  for (std::size_t at = file.code.find(kUsing); at != std::string::npos;
       at = file.code.find(kUsing, at + 1)) {
    if (!at_file_level(file.code, at)) continue;
    findings.push_back({file.path, line_at(file.code, at), "using-namespace",
                        "using namespace at file level reaches into other files of a unity build: "
                        "name what is used"});
  }
}

}  // namespace

std::vector<Finding> check_words(const Tree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree.files) {
    if (!is_cpp(file.path)) continue;
    find_swallowed_exceptions(file, findings);
    find_using_namespace(file, findings);
    if (!may_touch_the_world(file.path)) find_forbidden(file, findings);
  }
  return findings;
}

}  // namespace outlast::tidy
