#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

// What a process that we started has become: launchers start the program proper, which forks
// workers. Who of them is to get a signal, and who is still writing what?
namespace outlast::sys {

struct FamilyMember {
  int pid = 0;
  int parent = 0;
  std::uint64_t started = 0;  // together with the pid: which process. Numbers are used again
  std::uint64_t caught = 0;   // bit n - 1: it has a handler for signal n
  std::uint64_t ignored = 0;  // the same: signal n is lost on it
  std::vector<std::string> writes = {};  // the files that it has open for writing; sorted

  bool catches(int signal_number) const { return has(caught, signal_number); }
  bool ignores(int signal_number) const { return has(ignored, signal_number); }

 private:
  static bool has(std::uint64_t set, int signal_number) {
    return signal_number >= 1 && signal_number <= 64 &&
           (set >> static_cast<unsigned>(signal_number - 1) & 1U) != 0;
  }
};

// Thread-safe.
class ProcessFamilies {
 public:
  virtual ~ProcessFamilies() = default;
  // The process `pid`, which we started and whose Process still is there, and what descends from
  // it: the topmost first, nobody before its parent. Of the files only those below `folder`, with
  // paths that begin with it as it is given; none if it is empty. Files that no longer have a name
  // do not count. A picture of a moment that has passed: who has ended is left out, and so is what
  // we may not read, without an error. What descends from somebody who has ended is not found.
  virtual Result<std::vector<FamilyMember>> family(int pid, const std::string& folder) = 0;
  // To this very process: never to another one that has got its pid since. Ok if it has ended.
  virtual Result<void> signal(const FamilyMember& member, int signal_number) = 0;
};

// Whom to ask with a signal that would kill who does not handle it: the topmost that does.
// Launchers pass it on; forked workers have inherited the handler and must not get it. Nobody, if
// nobody handles it.
std::optional<FamilyMember> pick_receiver(const std::vector<FamilyMember>& family,
                                          int signal_number);

}  // namespace outlast::sys
