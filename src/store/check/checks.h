#pragma once

#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "store/check/root_check.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// The single checks of check_root(), for its own files only. Each works on keys below `folder`, and
// returns an error only for what the store should never have answered.
namespace outlast::store::check {

struct Bench {
  const CheckTools& tools;
  const RootCheckOptions& options;
  std::string folder;  // "outlast-check-…/"
  const sys::CallContext& ctx;

  ObjectStore& store() const { return tools.store; }
  std::string key(std::string_view name) const { return folder + std::string(name); }
};

CheckFinding good(std::string words);
CheckFinding note(std::string words);
CheckFinding broken(std::string words);

// The whole object as text.
Result<std::string> read_all(const Bench& bench, const std::string& key,
                             const GetOptions& options = {});

Result<CheckFinding> write_and_read(const Bench& bench);
Result<CheckFinding> create_if_absent(const Bench& bench);
Result<CheckFinding> replace_if_unchanged(const Bench& bench);
Result<CheckFinding> remove_if_unchanged(const Bench& bench);
Result<CheckFinding> ranges(const Bench& bench);
Result<CheckFinding> listing(const Bench& bench);
Result<CheckFinding> names(const Bench& bench);
Result<CheckFinding> large_uploads(const Bench& bench);
Result<CheckFinding> checksums(const Bench& bench);
Result<CheckFinding> clock(const Bench& bench);

// race_checks.cc
Result<CheckFinding> create_race(const Bench& bench);
Result<CheckFinding> replace_race(const Bench& bench);

}  // namespace outlast::store::check
