#pragma once

#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "job/log_entry.h"

// What must hold for every input, however broken: the fuzzer looks for one that breaks it, and a
// test replays every input that was ever interesting.
namespace outlast::job::testing {

// Aborts if a promise of decode_entry() is broken. The first byte says for which place the rest is
// read.
inline void fuzz_commit_entry(std::string_view input) {
  if (input.empty()) return;
  const Seq seq = static_cast<unsigned char>(input.front());
  const std::string_view text = input.substr(1);
  const auto entry = decode_entry(text, seq);
  if (!entry) {
    const ErrorCode code = entry.error().code();
    OUTLAST_CHECK(code == ErrorCode::kCorrupt || code == ErrorCode::kInvalidArgument, "{}",
                  entry.error().to_string());
    return;
  }
  OUTLAST_CHECK(entry->seq == seq, "{} is not {}", entry->seq, seq);
  OUTLAST_CHECK(check_entry(*entry).has_value(), "an odd entry was read");
  OUTLAST_CHECK(encode_entry(*entry) == text, "there are two texts of one entry");
}

}  // namespace outlast::job::testing
