#pragma once

#include <string>

#include "base/json.h"

// What editors and people are told about job files. Both come from the field table, so they cannot
// say something else than the reader does.
namespace outlast::job {

// A JSON Schema (draft-07, the one that editors' YAML plug-ins know). Whatever the reader accepts
// it accepts; it cannot see every mistake that the reader sees. Kept as docs/job.schema.json.
Json json_schema();

// The reference of all keys, in Markdown. Kept as docs/job_file.md.
std::string reference_markdown();

}  // namespace outlast::job
