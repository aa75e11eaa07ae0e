#pragma once

#include "base/yaml.h"
#include "job/checker.h"

namespace outlast::job {

// Adds the mistakes that no key shows alone: values that are fine by themselves and impossible
// together. Looks only at values that are valid, so a mistake is not reported twice. Part of the
// reader; not for use outside job/.
void find_conflicts(const YamlNode& job, Diagnostics& diagnostics);

}  // namespace outlast::job
