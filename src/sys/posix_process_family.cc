#include "sys/posix_process_family.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/process_family.h"

namespace outlast::sys {
namespace {

// What is read of /proc. Somebody who has ended, or is not for us, is not there; but if it is we
// who lack descriptors or memory, everybody seems to have ended: `failure` tells.
struct Proc {
  int failure = 0;

  void note(int error_number) {
    if (error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM) {
      failure = error_number;
    }
  }
  std::vector<int> numbers_in(const std::string& folder);
  std::string text_of(const std::string& path);
  std::optional<FamilyMember> member(int pid);
};

// The names in a folder that are numbers.
std::vector<int> Proc::numbers_in(const std::string& folder) {
  std::vector<int> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    int number = 0;
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (problem == std::errc() && stop == name.data() + name.size()) numbers.push_back(number);
  }
  if (error) note(error.value());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string Proc::text_of(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) note(errno);
  std::string text;
  std::array<char, 4096> buffer;  // NOLINT: filled by read
  while (file) {
    const ssize_t n = retry_eintr([&] { return ::read(file.get(), buffer.data(), buffer.size()); });
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

// The number, to this base, after `label` at the beginning of a line.
std::optional<std::uint64_t> labelled(std::string_view text, std::string_view label, int base) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) return std::nullopt;
  text.remove_prefix(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc()) return std::nullopt;
  return value;
}

// What /proc/PID/stat says: "12 (any) name) S 1 …", where the fields after the name are numbered
// from 3.
std::optional<FamilyMember> Proc::member(int pid) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  std::array<std::string_view, 23> fields;
  for (std::size_t i = 3; i < fields.size(); ++i) {
    fields.at(i) = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(fields.at(i).size() + 1, rest.size()));
  }
  if (fields[3] == "Z" || fields[3] == "X") return std::nullopt;  // it has ended
  FamilyMember member{.pid = pid};
  const auto parse = [](std::string_view field, auto& value) {
    return std::from_chars(field.data(), field.data() + field.size(), value).ec == std::errc();
  };
  if (!parse(fields[4], member.parent) || !parse(fields[22], member.started)) return std::nullopt;
  return member;
}

// A folder as the caller names it, and as the kernel does.
struct Below {
  std::string given;  // both without a slash at the end
  std::string real;

  // Nothing if there is no such folder.
  static std::optional<Below> folder(std::string_view given) {
    std::error_code error;
    std::string real = std::filesystem::canonical(given, error).string();
    if (error) return std::nullopt;
    if (real == "/") real.clear();
    while (given.ends_with('/')) given.remove_suffix(1);
    return Below{.given = std::string(given), .real = std::move(real)};
  }
  // The caller's name for what the kernel calls `path`, if it is below.
  std::optional<std::string> name(const std::string& path) const {
    if (!path.starts_with(real + "/")) return std::nullopt;
    return given + path.substr(real.size());
  }
};

class PosixProcessFamilies : public ProcessFamilies {
 public:
  Result<std::vector<FamilyMember>> family(int pid, const std::string& folder) override {
    Proc proc;
    std::map<int, std::vector<FamilyMember>> children;  // by parent
    std::vector<FamilyMember> family;
    for (const int number : proc.numbers_in("/proc")) {
      std::optional<FamilyMember> member = proc.member(number);
      if (!member) continue;
      (number == pid ? family : children[member->parent]).push_back(*std::move(member));
    }
    if (family.empty() && children.empty()) {
      return Error(ErrorCode::kFailed, "processes cannot be looked at: /proc cannot be read");
    }
    // The list grows while it is walked: level by level.
    for (std::size_t i = 0; i < family.size(); ++i) {
      const auto found = children.find(family[i].pid);
      if (found == children.end()) continue;
      family.insert(family.end(), found->second.begin(), found->second.end());
      children.erase(found);
    }
    const std::optional<Below> below = Below::folder(folder);
    std::erase_if(family, [&](FamilyMember& member) {
      const std::string status = proc.text_of(fmt::format("/proc/{}/status", member.pid));
      const std::optional<std::uint64_t> caught = labelled(status, "SigCgt:", 16);
      if (!caught) return true;
      member.caught = *caught;
      member.ignored = labelled(status, "SigIgn:", 16).value_or(0);
      if (!below) return false;
      member.writes = writes_of(member.pid, *below, proc);
      // Who ends in the meantime seems to have closed everything in good order.
      return !proc.member(member.pid);
    });
    if (proc.failure != 0) return posix_error(proc.failure, "look at processes");
    return family;
  }

  Result<void> signal(const FamilyMember& member, int signal_number) override {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, member.pid, 0)));
    if (!process && errno == ESRCH) return {};
    const auto failed = [&] {
      return posix_error(errno,
                         fmt::format("send signal {} to process {}", signal_number, member.pid));
    };
    if (!process) return failed();
    // Compared after it was opened: from here on the descriptor means this process or nobody.
    Proc proc;
    const std::optional<FamilyMember> now = proc.member(member.pid);
    if (proc.failure != 0) {
      return posix_error(proc.failure, fmt::format("look at process {}", member.pid));
    }
    if (!now || now->started != member.started) return {};
    if (::syscall(SYS_pidfd_send_signal, process.get(), signal_number, nullptr, 0) != 0 &&
        errno != ESRCH) {
      return failed();
    }
    return {};
  }

 private:
  static std::vector<std::string> writes_of(int pid, const Below& below, Proc& proc) {
    std::vector<std::string> paths;
    for (const int fd : proc.numbers_in(fmt::format("/proc/{}/fd", pid))) {
      const std::string info = proc.text_of(fmt::format("/proc/{}/fdinfo/{}", pid, fd));
      const std::optional<std::uint64_t> flags = labelled(info, "flags:", 8);
      if (!flags || (*flags & O_ACCMODE) == O_RDONLY || (*flags & O_PATH) != 0) continue;
      const std::string link = fmt::format("/proc/{}/fd/{}", pid, fd);
      std::error_code error;
      const std::string path = std::filesystem::read_symlink(link, error).string();
      const std::optional<std::string> name = below.name(path);
      if (error || !name) continue;
      // Of a file that has lost this name the kernel says "name (deleted)", even if it has others.
      struct stat about{};
      struct stat named{};
      const bool has_the_name = ::stat(link.c_str(), &about) == 0 &&
                                ::stat(path.c_str(), &named) == 0 && about.st_ino == named.st_ino &&
                                about.st_dev == named.st_dev;
      if (has_the_name && S_ISREG(about.st_mode)) paths.push_back(*name);
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }
};

}  // namespace

std::unique_ptr<ProcessFamilies> make_posix_process_families() {
  return std::make_unique<PosixProcessFamilies>();
}

}  // namespace outlast::sys
