#include "drill/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

constexpr std::array<std::pair<Source, std::string_view>, 7> kSourceNames = {{
    {Source::kGce, "gce"},
    {Source::kEc2, "ec2"},
    {Source::kAzure, "azure"},
    {Source::kSlurm, "slurm"},
    {Source::kSignal, "signal"},
    {Source::kFile, "file"},
    {Source::kKill, "kill"},
}};

constexpr std::array<std::pair<std::string_view, Trouble>, 5> kTroubleWords = {{
    {"notice", Trouble::kNotice},
    {"withdrawn", Trouble::kWithdrawn},
    {"late", Trouble::kTooLate},
    {"kill", Trouble::kKill},
    {"mid-save", Trouble::kMidSave},
}};

Trouble usual_trouble(Source source) {
  return source == Source::kKill ? Trouble::kKill : Trouble::kNotice;
}

bool is_told(Trouble trouble) {
  return trouble == Trouble::kNotice || trouble == Trouble::kWithdrawn ||
         trouble == Trouble::kTooLate;
}

Error wrong_item(std::string_view item, std::string_view why) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}' in a schedule: {}", item, why)};
}

Result<Planned> parse_item(std::string_view item, Source source) {
  const std::size_t space = std::min(item.find_first_of(" \t"), item.size());
  const std::string_view word = ascii_trimmed(item.substr(space));
  const Result<Duration> after = parse_duration(item.substr(0, space));
  if (!after) {
    return wrong_item(item,
                      "it is a time and perhaps what happens then, such as '5s' or '8s withdrawn'");
  }
  Planned planned = {.after = *after, .trouble = usual_trouble(source)};
  if (!word.empty()) {
    const auto* const found =
        std::ranges::find(kTroubleWords, word, &std::pair<std::string_view, Trouble>::first);
    if (found == kTroubleWords.end()) {
      return wrong_item(item, "what happens is notice, withdrawn, late, kill or mid-save");
    }
    planned.trouble = found->second;
  }
  if (source == Source::kKill && is_told(planned.trouble)) {
    return wrong_item(item, "with 'kill' nobody is told anything: kill and mid-save are possible");
  }
  if (planned.trouble == Trouble::kWithdrawn && !can_withdraw(source)) {
    return wrong_item(item, fmt::format("a notice by '{}' cannot be taken back: file, gce, ec2 and "
                                        "azure can",
                                        to_string(source)));
  }
  return planned;
}

}  // namespace

std::string_view to_string(Source source) {
  return std::ranges::find(kSourceNames, source, &std::pair<Source, std::string_view>::first)
      ->second;
}

std::optional<Source> parse_source(std::string_view name) {
  const auto* const found =
      std::ranges::find(kSourceNames, name, &std::pair<Source, std::string_view>::second);
  if (found == kSourceNames.end()) return std::nullopt;
  return found->first;
}

bool can_withdraw(Source source) {
  return source == Source::kGce || source == Source::kEc2 || source == Source::kAzure ||
         source == Source::kFile;
}

Duration heard_after(Source source) {
  switch (source) {
    case Source::kEc2:
      return std::chrono::seconds(2);
    case Source::kAzure:
      return std::chrono::seconds(1);
    case Source::kFile:
      return std::chrono::milliseconds(250);
    case Source::kGce:
    case Source::kSlurm:
    case Source::kSignal:
    case Source::kKill:
      break;
  }
  return Duration::zero();
}

Result<std::vector<Planned>> parse_schedule(std::string_view text, Source source) {
  std::vector<Planned> schedule;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    OUTLAST_TRY_ASSIGN(const Planned planned,
                       parse_item(ascii_trimmed(text.substr(at, end - at)), source));
    schedule.push_back(planned);
    at = end + 1;
  }
  if (schedule.size() > kPlannedMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a schedule has at most {} items", kPlannedMax));
  }
  return schedule;
}

std::vector<Planned> even_schedule(std::uint64_t count, Duration training, Source source) {
  const Duration share = training / static_cast<Duration::rep>(count + 1);
  const Duration after = std::max(share * 2 / 3 - heard_after(source), share / 3);
  std::vector<Planned> schedule(count, {.after = after, .trouble = usual_trouble(source)});
  if (source == Source::kKill && count > 1) {
    schedule[count / 2].trouble = Trouble::kMidSave;
  }
  return schedule;
}

std::vector<Planned> poisson_schedule(std::uint64_t count, Duration mean, Source source,
                                      Random& random) {
  std::vector<Planned> schedule;
  std::generate_n(std::back_inserter(schedule), count, [&] {
    const double gap = -std::log(1.0 - random.unit()) * static_cast<double>(mean.count());
    return Planned{.after = Duration(static_cast<Duration::rep>(gap)),
                   .trouble = usual_trouble(source)};
  });
  return schedule;
}

}  // namespace outlast::drill
