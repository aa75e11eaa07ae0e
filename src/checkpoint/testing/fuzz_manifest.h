#pragma once

#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "checkpoint/manifest.h"

// What must hold for every text, however broken: the fuzzer looks for one that breaks it.
namespace outlast::checkpoint::testing {

// Aborts if a promise of the reader is broken.
inline void fuzz_manifest(std::string_view text) {
  const auto manifest = decode_manifest(text);
  if (!manifest) {
    const ErrorCode code = manifest.error().code();
    OUTLAST_CHECK(code == ErrorCode::kCorrupt || code == ErrorCode::kInvalidArgument, "{}",
                  manifest.error().to_string());
    return;
  }
  OUTLAST_CHECK(encode_manifest(*manifest) == text, "a second text of the same");
  for (const Item& item : manifest->items) {
    OUTLAST_CHECK(is_safe_path(item.path), "{}", item.path);
    for (const auto index : item.chunks) {
      OUTLAST_CHECK(index < manifest->chunks.size(), "{}", index);
    }
  }
}

}  // namespace outlast::checkpoint::testing
