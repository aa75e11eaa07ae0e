#pragma once

#include <span>
#include <string>

#include "job/spec.h"

namespace outlast::job {

// The complete job as YAML, for people: every key in the order of the reference, "# default" behind
// what the file did not say, and keys that are not set as comments that say what happens without
// them. read_spec() reads it back to an equal spec. `defaulted` is that of the SpecReading.
std::string spec_text(const Spec& spec, std::span<const std::string> defaulted = {});

}  // namespace outlast::job
