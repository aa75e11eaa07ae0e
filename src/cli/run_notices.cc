#include "cli/run_notices.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/program/command_line.h"
#include "cli/program/text_layout.h"
#include "cli/run_plan.h"
#include "notice/cloud_sources.h"
#include "notice/file_source.h"
#include "notice/lifetime_source.h"
#include "notice/notice_source.h"
#include "notice/signal_source.h"
#include "notice/slurm_place.h"
#include "notice/slurm_source.h"
#include "sys/environment.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::string_view kFileNotice = "file:";
constexpr std::string_view kNoticeVariable = "OUTLAST_NOTICE_SOURCES";
constexpr std::array<std::string_view, 7> kNoticePlaces = {"auto",  "gce",        "ec2",   "azure",
                                                           "slurm", "kubernetes", "signal"};

// One word about where bad news comes from; `option` is where it stands.
Result<void> take_notice(const std::string& text, std::string_view option, RunPlan& plan) {
  if (text == "none") {
    plan.hears_signals = false;
  } else if (text.starts_with(kFileNotice) && text.size() > kFileNotice.size()) {
    plan.notice_files.push_back(text.substr(kFileNotice.size()));
  } else if (std::ranges::find(kNoticePlaces, text) != std::end(kNoticePlaces)) {
    plan.notice_places.push_back(text);
  } else {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} {}: it is one of {}, file:PATH or none{}", option, printable(text),
                             fmt::join(kNoticePlaces, ", "), did_you_mean(text, kNoticePlaces)));
  }
  return {};
}

bool is_named(std::string_view place, const RunPlan& plan) {
  return std::ranges::find(plan.notice_places, place) != plan.notice_places.end();
}

// None where we are not in a job of Slurm's.
Result<std::unique_ptr<notice::NoticeSource>> slurm_source(const RunPlan& plan, sys::World& world,
                                                           const Logger& log) {
  std::optional<notice::SlurmPlace> place = notice::slurm_place(world.environment);
  std::unique_ptr<notice::NoticeSource> source;
  if (place && (is_named("slurm", plan) || is_named("auto", plan))) {
    OUTLAST_TRY_ASSIGN(source,
                       notice::SlurmSource::make(world, *std::move(place), log, plan.spec.grace));
  }
  return source;
}

// By the options; where they name files only, the environment says the rest.
Result<void> take_notice_words(const Invocation& invocation, sys::Environment& environment,
                               RunPlan& plan) {
  for (const std::string& text : invocation.list("notice")) {
    OUTLAST_TRY(take_notice(text, "--notice", plan));
  }
  if (!plan.notice_places.empty() || !plan.hears_signals) return {};
  const std::string words = environment.get(kNoticeVariable).value_or("");
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    const std::string word(ascii_trimmed(std::string_view(words).substr(at, end - at)));
    if (!word.empty()) OUTLAST_TRY(take_notice(word, kNoticeVariable, plan));
    at = end + 1;
  }
  return {};
}

}  // namespace

Result<void> take_notices(const Invocation& invocation, sys::Environment& environment,
                          RunPlan& plan) {
  OUTLAST_TRY(take_notice_words(invocation, environment, plan));
  if (plan.notice_places.empty() && plan.hears_signals) plan.notice_places.emplace_back("auto");
  if (is_named("slurm", plan) && !notice::slurm_place(environment)) {
    return Error(ErrorCode::kInvalidArgument,
                 "--notice slurm: this is no job of Slurm's (SLURM_JOB_ID is not set)");
  }
  return {};
}

Result<std::vector<std::unique_ptr<notice::NoticeSource>>> notice_sources(const RunPlan& plan,
                                                                          MonoTime began,
                                                                          sys::World& world,
                                                                          const Logger& log) {
  std::vector<std::unique_ptr<notice::NoticeSource>> sources;
  OUTLAST_TRY_ASSIGN(std::unique_ptr<notice::NoticeSource> slurm, slurm_source(plan, world, log));
  if (plan.hears_signals) {
    // What SIGTERM leaves, Slurm knows better.
    const std::vector<int> numbers =
        slurm ? std::vector<int>{SIGINT} : std::vector{SIGTERM, SIGINT};
    OUTLAST_TRY_ASSIGN(auto source, notice::SignalSource::make(world.own_signals, world.clock,
                                                               plan.spec.grace, numbers));
    sources.push_back(std::move(source));
  }
  if (slurm) sources.push_back(std::move(slurm));
  for (const std::string& place : plan.notice_places) {
    if (place == "signal" || place == "slurm") continue;
    OUTLAST_TRY_ASSIGN(auto found, notice::make_cloud_sources(place, world, log, plan.spec.grace));
    std::ranges::move(found, std::back_inserter(sources));
  }
  for (const std::string& file : plan.notice_files) {
    sources.push_back(
        std::make_unique<notice::FileSource>(world.files, world.clock, log, file, plan.spec.grace));
  }
  if (plan.spec.lifetime) {
    sources.push_back(
        std::make_unique<notice::LifetimeSource>(world.clock, began, *plan.spec.lifetime));
  }
  return sources;
}

}  // namespace outlast::cli
