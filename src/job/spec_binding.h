#pragma once

#include "base/json.h"
#include "job/spec.h"

namespace outlast::job {

// The spec that checked canonical JSON (check_tree() without a mistake) describes. Part of the
// reader; not for use outside job/, where spec_from_json() checks first.
Spec bind_spec(const Json& checked);

}  // namespace outlast::job
