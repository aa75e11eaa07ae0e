#pragma once

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"

// The job as machines store and compare it (spec.json in a root). Keys are those of the job file;
// durations, sizes and money are texts in their canonical form ("1h30m", "4GiB", "5.00 USD"); a key
// that is not set is null. canonical_json(to_json(spec)) is the same text for equal specs.
namespace outlast::job {

Json to_json(const Spec& spec);

// Strict: the same checks as for a job file, and a text must be a string. A missing key takes its
// default, so that a job written by an older outlast can be read. kInvalidArgument with the first
// mistake's key and sentence. `json` must hold UTF-8, as parse_json() gives.
Result<Spec> spec_from_json(const Json& json);

}  // namespace outlast::job
