#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/loaded_checkpoint.h"
#include "job/log_entry.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

struct VerifyProgress {
  std::uint64_t objects = 0;  // to look at
  std::uint64_t objects_done = 0;
  std::uint64_t bytes_done = 0;
};

struct VerifyRequest {
  bool full = false;  // every byte of every object; otherwise the structure: what is there, and how
                      // large
  std::function<void(const VerifyProgress&)> watch = {};
};

// Something that is not as it should be.
struct Finding {
  bool is_damage = true;                   // or only something odd, which harms nothing
  std::string object = {};                 // its URL
  std::string sentence = {};               // what is wrong with it
  std::vector<job::Seq> checkpoints = {};  // that cannot be restored because of it
};

struct VerifyReport {
  std::vector<Finding> findings = {};
  std::vector<job::Seq> good = {};     // checkpoints that can be restored, as far as was looked
  std::vector<job::Seq> damaged = {};  // and those that cannot
  VerifyProgress totals = {};
  bool has_damage() const;
};

// Looks at everything in the job's folder: the log, the manifests, the packs, the lists of what is
// condemned, and what does not belong there. An error only if looking itself failed.
Result<VerifyReport> verify(const ReaderParts& parts, CommitLog& log, const VerifyRequest& request,
                            const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
