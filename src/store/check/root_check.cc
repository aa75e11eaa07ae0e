#include "store/check/root_check.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "store/check/checks.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {
namespace check {

CheckFinding good(std::string words) {
  return {.verdict = Verdict::kGood, .words = std::move(words)};
}
CheckFinding note(std::string words) {
  return {.verdict = Verdict::kNote, .words = std::move(words)};
}
CheckFinding broken(std::string words) {
  return {.verdict = Verdict::kBroken, .words = std::move(words)};
}

namespace {

struct NamedCheck {
  std::string_view name;
  Result<CheckFinding> (*run)(const Bench&);
};

constexpr std::array kChecks = {
    NamedCheck{"write and read back", write_and_read},
    NamedCheck{"create if absent", create_if_absent},
    NamedCheck{"create if absent, raced", create_race},
    NamedCheck{"replace if unchanged", replace_if_unchanged},
    NamedCheck{"replace if unchanged, raced", replace_race},
    NamedCheck{"remove if unchanged", remove_if_unchanged},
    NamedCheck{"ranges", ranges},
    NamedCheck{"listing", listing},
    NamedCheck{"names", names},
    NamedCheck{"large uploads", large_uploads},
    NamedCheck{"checksums", checksums},
    NamedCheck{"clock", clock},
};

// Removes what the checks left; what cannot be removed is named.
std::optional<CheckFinding> clean_up(const Bench& bench) {
  ListOptions options = {.prefix = bench.folder};
  while (true) {
    const Result<ListPage> page = bench.store().list(options, bench.ctx);
    if (!page) return note("could not list what to remove: " + page.error().to_string());
    for (const ObjectInfo& object : page->objects) {
      const Result<void> removed = bench.store().remove(object.key, bench.ctx);
      if (!removed) {
        return note(fmt::format("left behind {}: {}", bench.store().url_of(bench.folder),
                                removed.error().to_string()));
      }
    }
    if (page->next.empty()) return std::nullopt;
    options.page_token = page->next;
  }
}

}  // namespace
}  // namespace check

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kNote:
      return "note";
    case Verdict::kBroken:
      return "broken";
  }
  return "broken";
}

Result<std::vector<CheckFinding>> check_root(const CheckTools& tools,
                                             const RootCheckOptions& options,
                                             const sys::CallContext& ctx) {
  const check::Bench bench = {
      .tools = tools,
      .options = options,
      .folder = fmt::format("{}outlast-check-{}/", options.folder, make_token(tools.random, 12)),
      .ctx = ctx};
  std::vector<CheckFinding> findings;
  for (const check::NamedCheck& one : check::kChecks) {
    if (options.on_check) options.on_check(one.name);
    Result<CheckFinding> finding = one.run(bench);
    if (!finding) {
      const Error& error = finding.error();
      const bool ends_all =
          error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded;
      // Whoever cannot even write an object has another problem than a store's semantics.
      if (ends_all || findings.empty()) return error;
      finding = check::broken(error.to_string());
    }
    finding->name = one.name;
    findings.push_back(*std::move(finding));
  }
  if (std::optional<CheckFinding> left = check::clean_up(bench)) {
    left->name = "clean up";
    findings.push_back(*std::move(left));
  }
  return findings;
}

}  // namespace outlast::store
