#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/object_store.h"

namespace outlast::store::testing {

// What one object's bytes may be by now: several as long as an outcome is unknown. nullopt: absent.
using Content = std::optional<std::string>;

// What a writer knows about objects that nobody else writes. Pure. Confined to its owner.
class FaultModel {
 public:
  // A write of `content` (nullopt: a removal) that succeeded, or failed with this code.
  void wrote(const std::string& key, const Content& content);
  // True if the code is one that such a failure may have.
  bool did_not_write(const std::string& key, const Content& content, ErrorCode code);
  // It is known to be damaged: it may be anything until it is written again.
  void is_damaged(const std::string& key);

  // A read that gave `content`. False if that can not be.
  bool saw(const std::string& key, const Content& content);
  // A listing of all keys. What cannot be, in words; empty if it can.
  std::string saw_list(const std::vector<ObjectInfo>& objects) const;

  std::vector<std::string> keys() const;
  // What was done to the object and seen of it, a line each: for the message of a failure.
  std::string history(const std::string& key) const;

 private:
  void remember(const std::string& key, const std::string& what, const Content& content);
  // Absent, for a key that was never written.
  const std::set<Content>& possible(const std::string& key) const;

  std::map<std::string, std::set<Content>> possible_;
  std::set<std::string> damaged_;
  std::map<std::string, std::string> history_;
};

// Whether an operation may honestly end with it when connections break and servers are busy.
bool is_honest(ErrorCode code);

}  // namespace outlast::store::testing
