#include "job/retention.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "job/log_entry.h"

namespace outlast::job {

std::set<Seq> choose_kept(const Retention& retention, const std::vector<LogEntry>& checkpoints,
                          const std::set<Seq>& pinned) {
  std::set<Seq> kept;
  const std::size_t last =
      std::min<std::size_t>(std::max<std::uint64_t>(retention.last, 1), checkpoints.size());
  for (std::size_t i = checkpoints.size() - last; i < checkpoints.size(); ++i) {
    kept.insert(checkpoints[i].seq);
  }
  std::vector<std::pair<double, Seq>> ranked;
  for (const LogEntry& entry : checkpoints) {
    if (pinned.contains(entry.seq)) kept.insert(entry.seq);
    const auto& step = entry.checkpoint.step;
    if (retention.every && *retention.every > 0 && step && *step % *retention.every == 0) {
      kept.insert(entry.seq);
    }
    if (!retention.best) continue;
    const auto metric = entry.checkpoint.metrics.find(retention.best->metric);
    if (metric == entry.checkpoint.metrics.end()) continue;
    ranked.emplace_back(retention.best->highest ? -metric->second : metric->second, entry.seq);
  }
  std::ranges::sort(ranked);  // of equals the older one
  for (std::size_t i = 0; retention.best && i < ranked.size() && i < retention.best->count; ++i) {
    kept.insert(ranked[i].second);
  }
  return kept;
}

}  // namespace outlast::job
