#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "sys/file_system.h"
#include "trainer_files/completeness.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {

// Small reads of listed files, remembered as long as a file stays as it was listed: looking at the
// same tree every second opens nothing. Confined to its owner.
class FileLooks {
 public:
  explicit FileLooks(sys::FileSystem& files) : files_(files) {}

  // Before the looks at one listing: what was not asked for since the last call is forgotten.
  void start_round(MonoTime now);

  // Of a file. kTorn if it cannot be read or is no longer what was listed.
  Completeness completeness(const TreeListing& listing, const ListedEntry& entry);
  // All of a small text file; "" if it cannot be read or is larger than a mebibyte.
  std::string text(const TreeListing& listing, const ListedEntry& entry);

 private:
  struct Look {
    ListedEntry entry = {};
    MonoTime first_seen = {};  // like this
    MonoTime used = {};
    std::optional<Completeness> completeness = {};
    std::optional<std::string> text = {};
  };
  Look& look_at(const ListedEntry& entry);
  bool may_remember(const Look& look) const;

  sys::FileSystem& files_;
  MonoTime now_ = {};
  std::map<std::string, Look> looks_;
};

}  // namespace outlast::trainer_files
