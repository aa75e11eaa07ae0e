#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/yaml.h"
#include "job/checker.h"
#include "job/conflicts.h"
#include "job/fields.h"
#include "job/spec.h"
#include "job/spec_binding.h"

namespace outlast::job {

SpecReading read_spec(std::string_view yaml) {
  YamlReading tree = read_yaml(yaml);
  Diagnostics diagnostics;
  for (YamlProblem& problem : tree.problems) {
    diagnostics.add(problem.position, "", [&] { return std::move(problem.message); });
  }
  SpecReading reading;
  Json checked;
  if (tree.complete) {
    checked = check_tree(job_record(), tree.root, {}, diagnostics, reading.defaulted);
    find_conflicts(tree.root, diagnostics);
  }
  if (diagnostics.empty()) {
    reading.spec = bind_spec(checked);
    std::sort(reading.defaulted.begin(), reading.defaulted.end());
  } else {
    reading.defaulted.clear();
  }
  std::move(diagnostics).finish(reading);
  return reading;
}

std::string format_diagnostic(std::string_view file, const Diagnostic& diagnostic) {
  return fmt::format("{}:{}:{}: {}", file, diagnostic.position.line, diagnostic.position.column,
                     diagnostic.message);
}

std::string format_diagnostics(std::string_view file, const SpecReading& reading) {
  std::string lines;
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    lines += format_diagnostic(file, diagnostic) + "\n";
  }
  if (reading.more > 0) lines += fmt::format("{}: and {} more\n", file, reading.more);
  return lines;
}

}  // namespace outlast::job
