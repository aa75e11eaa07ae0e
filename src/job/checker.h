#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/yaml.h"
#include "job/fields.h"
#include "job/spec.h"

// Checks a tree against the field table. Part of the reader; not for use outside job/.
namespace outlast::job {

// Collects mistakes, in a bounded amount of memory. Confined to its owner.
class Diagnostics {
 public:
  // `message` is called only if the mistake is kept: writing a sentence costs more than counting.
  void add(TextPosition position, std::string key, const std::function<std::string()>& message);

  bool empty() const { return kept_.empty(); }
  std::size_t count() const { return kept_.size() + dropped_; }
  // Sorts by position and moves the first kDiagnosticsMax into `reading`, with the number of
  // others.
  void finish(SpecReading& reading) &&;

 private:
  std::vector<Diagnostic> kept_;
  std::size_t dropped_ = 0;
};

struct CheckOptions {
  // The tree comes from JSON: a text must have been a string, and null is a key that is not set.
  bool from_json = false;
};

// The tree as canonical JSON with every default filled in; meaningful only if no mistake was added.
// The keys that were filled in are appended to `defaulted`.
Json check_tree(const Record& record, const YamlNode& root, const CheckOptions& options,
                Diagnostics& diagnostics, std::vector<std::string>& defaulted);

}  // namespace outlast::job
