#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// Two things that several machines write to at once, with nothing but an object store between them:
// the patterns that the commit log and the fence will be made of.
namespace outlast::sim {

// What is done when the answer to a write was lost. Everything but the first is a bug.
enum class InDoubt {
  kReadBack,      // look whether it is there, and keep the doubt until the place is filled
  kBelieveLost,   // take it for not done
  kBelieveWon,    // take it for done
  kForgetItOnce,  // look; but if it is not there yet, forget that it may still come
};

// A log of objects numbered from 1 without a gap, each written with put-if-absent: whoever fills a
// place has it forever. Entries must be unlike all others, ever. Confined to its owner.
class RaceLog {
 public:
  RaceLog(store::ObjectStore& store, InDoubt in_doubt) : store_(store), in_doubt_(in_doubt) {}

  static std::string key_of(std::uint64_t place);

  // Looks for the end of the log. Without it, append() begins to look at place 1.
  Result<void> find_end(const sys::CallContext& ctx);
  // The place that the entry has got. After an error it may have one or not, and the entry must not
  // be appended again.
  Result<std::uint64_t> append(const std::string& entry, const sys::CallContext& ctx);

 private:
  enum class Fate { kOurs, kTaken, kFree };
  Result<Fate> read_back(std::uint64_t place, const std::string& entry,
                         const sys::CallContext& ctx);

  store::ObjectStore& store_;
  const InDoubt in_doubt_;
  std::uint64_t next_ = 1;
};

// How often each of several counters was incremented, in one object that is replaced under the
// condition that nobody else replaced it. Each is incremented by its owner only, so that what an
// owner finds of its own counter is what it did itself. Confined to its owner.
class RaceCounter {
 public:
  using Counts = std::map<std::string, std::uint64_t>;

  struct Options {
    InDoubt in_doubt = InDoubt::kReadBack;
    bool conditional = true;  // false is a bug
  };
  RaceCounter(store::ObjectStore& store, std::string owner, const Options& options);

  static const std::string& key();
  static Counts parse(const std::string& text);

  // The owner's new count. After an error it may have been counted or not.
  Result<std::uint64_t> increment(const sys::CallContext& ctx);

 private:
  struct Seen {
    Counts counts = {};
    store::WriteIf unchanged = {};
  };
  Result<Seen> look(const sys::CallContext& ctx);

  store::ObjectStore& store_;
  const std::string owner_;
  const Options options_;
};

}  // namespace outlast::sim
