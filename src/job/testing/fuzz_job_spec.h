#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "job/spec_text.h"

// What must hold for every input, however broken: the fuzzer looks for one that breaks it, and a
// test replays every input that was ever interesting.
namespace outlast::job::testing {

// Aborts if a promise of read_spec() is broken.
inline void fuzz_job_spec(std::string_view input) {
  const SpecReading reading = read_spec(input);
  OUTLAST_CHECK(reading.spec.has_value() == reading.diagnostics.empty(), "{} diagnostics",
                reading.diagnostics.size());
  OUTLAST_CHECK(reading.diagnostics.size() <= kDiagnosticsMax, "too many");
  TextPosition last;
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    OUTLAST_CHECK(diagnostic.position >= last, "not sorted: {}", diagnostic.message);
    OUTLAST_CHECK(!diagnostic.message.empty(), "no sentence at line {}", diagnostic.position.line);
    for (const char c : diagnostic.message) {
      OUTLAST_CHECK(static_cast<unsigned char>(c) >= 0x20, "control character in: {}",
                    diagnostic.message);
    }
    last = diagnostic.position;
  }
  if (!reading.spec) return;
  const auto from_json = spec_from_json(to_json(*reading.spec));
  OUTLAST_CHECK(from_json.has_value(), "JSON is refused: {}", from_json.error().to_string());
  OUTLAST_CHECK(*from_json == *reading.spec, "JSON gives another job");
  const std::string text = spec_text(*reading.spec, reading.defaulted);
  const SpecReading from_text = read_spec(text);
  OUTLAST_CHECK(from_text.spec.has_value(), "text is refused: {}\n{}", text,
                format_diagnostics("text", from_text));
  OUTLAST_CHECK(*from_text.spec == *reading.spec, "text gives another job:\n{}", text);
}

}  // namespace outlast::job::testing
