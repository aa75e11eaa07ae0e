#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace outlast::job {

// Checks a root and gives its canonical form (no slash at the end): a plain path, file:///path,
// s3://bucket/prefix, gs://bucket/prefix or az://account/container/prefix. Anything else is
// kInvalidArgument; the sentence is what is wrong, without the root itself.
Result<std::string> canonical_root(std::string_view text);

}  // namespace outlast::job
