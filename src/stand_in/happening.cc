#include "stand_in/happening.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace outlast::stand_in {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kMaintenanceEvents[] = {"NONE", "MIGRATE_ON_HOST_MAINTENANCE",
                                                   "TERMINATE_ON_HOST_MAINTENANCE"};
constexpr std::string_view kScheduledCodes[] = {"instance-stop", "instance-retirement",
                                                "instance-reboot", "system-reboot",
                                                "system-maintenance"};

constexpr HappeningRow kRows[] = {
    {.cloud = "gce",
     .word = "preempt",
     .does = "preempted becomes TRUE; it does not say how much time is left",
     .takes_time = true,
     .time = seconds(30)},
    {.cloud = "gce",
     .word = "maintenance",
     .does = "the value of maintenance-event",
     .choices = kMaintenanceEvents},
    {.cloud = "ec2",
     .word = "preempt",
     .does = "spot/instance-action says terminate, and termination-time when",
     .takes_time = true,
     .time = minutes(2)},
    {.cloud = "ec2",
     .word = "stop",
     .does = "spot/instance-action says stop",
     .takes_time = true,
     .time = minutes(2)},
    {.cloud = "ec2", .word = "hibernate", .does = "spot/instance-action says hibernate, now"},
    {.cloud = "ec2", .word = "rebalance", .does = "a rebalance recommendation"},
    {.cloud = "ec2",
     .word = "scheduled",
     .does = "an event of the scheduled maintenance",
     .choices = kScheduledCodes,
     .takes_time = true},
    {.cloud = "azure",
     .word = "preempt",
     .does = "a Preempt event",
     .takes_time = true,
     .time = seconds(30)},
    {.cloud = "azure",
     .word = "terminate",
     .does = "a Terminate event",
     .takes_time = true,
     .time = minutes(5)},
    {.cloud = "azure",
     .word = "freeze",
     .does = "a Freeze event",
     .takes_time = true,
     .time = minutes(15)},
    {.cloud = "azure",
     .word = "reboot",
     .does = "a Reboot event",
     .takes_time = true,
     .time = minutes(15)},
    {.cloud = "azure",
     .word = "redeploy",
     .does = "a Redeploy event",
     .takes_time = true,
     .time = minutes(10)},
    {.cloud = "azure",
     .word = "other-machine",
     .does = "a Preempt event of another machine",
     .takes_time = true,
     .time = seconds(30)},
    {.cloud = "azure", .word = "failure", .does = "a Reboot event that has started already"},
    {.cloud = "ec2",
     .word = "past",
     .does = "as preempt, but the time it says is past, by so much",
     .takes_time = true,
     .time = minutes(5)},
    {.cloud = "azure",
     .word = "past",
     .does = "as preempt, but the time it says is past, by so much",
     .takes_time = true,
     .time = minutes(5)},
    {.word = "junk", .does = "as preempt, but in words that mean nothing"},
    {.word = "withdraw", .does = "nothing is announced any more"},
    {.word = "fail",
     .does = "requests are answered with this status",
     .takes_status = true,
     .is_fault = true},
    {.word = "html", .does = "requests are answered with a page for people", .is_fault = true},
    {.word = "half", .does = "answers break off in the middle", .is_fault = true},
    {.word = "hang", .does = "requests are not answered", .is_fault = true},
    {.word = "slow", .does = "answers take so long", .takes_time = true, .is_fault = true},
    {.word = "well", .does = "an end to all faults"},
    {.word = "ahead", .does = "its clock is ahead by so much", .takes_time = true},
    {.word = "behind", .does = "its clock is behind by so much", .takes_time = true},
};

Error wrong(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(" \t"); at < text.size();
       at = text.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Words, one after the other. Confined to its owner.
class Words {
 public:
  explicit Words(std::string_view text) : words_(split_words(text)) {}
  // Empty when there are none left.
  std::string_view next() { return at_ < words_.size() ? words_[at_++] : std::string_view(); }
  std::string_view peek() const { return at_ < words_.size() ? words_[at_] : std::string_view(); }

 private:
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
};

bool is_condition(std::string_view word) {
  return word == "on" || word == "for" || word == "once";
}

Result<void> read_arguments(Words& words, const HappeningRow& row, Happening& happening) {
  if (!row.choices.empty()) {
    happening.choice = words.next();
    if (std::find(row.choices.begin(), row.choices.end(), happening.choice) == row.choices.end()) {
      return wrong(fmt::format("after '{}' stands one of {}, not '{}'{}", row.word,
                               fmt::join(row.choices, ", "), happening.choice,
                               did_you_mean(happening.choice, row.choices)));
    }
  }
  if (row.takes_status) {
    const std::string_view word = words.next();
    happening.status = parse_number<int>(word).value_or(0);
    if (happening.status < 200 || happening.status > 599) {
      return wrong(
          fmt::format("after '{}' stands a status from 200 to 599, not '{}'", row.word, word));
    }
  }
  if (!row.takes_time) return {};
  const bool is_given = !words.peek().empty() && !is_condition(words.peek());
  if (!is_given && row.time) {
    happening.time = *row.time;
    return {};
  }
  const std::string_view word = is_given ? words.next() : std::string_view();
  const Result<Duration> time = parse_duration(word);
  if (!time) {
    return wrong(fmt::format("after '{}' stands a time such as 30s, not '{}'", row.word, word));
  }
  happening.time = *time;
  return {};
}

Result<void> read_condition(std::string_view word, Words& words, Happening& happening) {
  if (word == "once") {
    happening.once = true;
    return {};
  }
  const std::string_view value = words.next();
  if (word == "on") {
    if (!value.starts_with('/')) {
      return wrong(fmt::format("after 'on' stands a path such as /latest, not '{}'", value));
    }
    happening.path = value;
    return {};
  }
  const Result<Duration> time = parse_duration(value);
  if (!time) return wrong(fmt::format("after 'for' stands a time such as 5s, not '{}'", value));
  happening.lasts = *time;
  return {};
}

}  // namespace

std::string usage(const HappeningRow& row) {
  std::string text(row.word);
  if (!row.choices.empty()) text += fmt::format(" {}", fmt::join(row.choices, " | "));
  if (row.takes_status) text += " STATUS";
  if (row.takes_time) text += row.time ? " [TIME]" : " TIME";
  return text;
}

std::vector<HappeningRow> happenings_of(std::string_view cloud) {
  std::vector<HappeningRow> rows;
  for (const HappeningRow& row : kRows) {
    if (row.cloud.empty() || row.cloud == cloud) rows.push_back(row);
  }
  return rows;
}

const HappeningRow* find_row(std::span<const HappeningRow> rows, std::string_view word) {
  for (const HappeningRow& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

Result<Happening> parse_happening(std::string_view text, std::string_view cloud) {
  Words words(text);
  const std::string_view word = words.next();
  const std::vector<HappeningRow> rows = happenings_of(cloud);
  const HappeningRow* const row = find_row(rows, word);
  if (row == nullptr) {
    std::vector<std::string_view> known;
    known.reserve(rows.size());
    for (const HappeningRow& one : rows) known.push_back(one.word);
    const std::string hint = did_you_mean(word, known);
    return wrong(
        fmt::format("'{}' is nothing that can happen to {}{}", word, cloud,
                    hint.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : hint));
  }
  Happening happening = {.word = std::string(word)};
  OUTLAST_TRY(read_arguments(words, *row, happening));
  for (std::string_view rest = words.next(); !rest.empty(); rest = words.next()) {
    if (!is_condition(rest)) {
      return wrong(fmt::format("'{}' is too much; it is written '{}'", rest, usage(*row)));
    }
    if (!row->is_fault) {
      return wrong(fmt::format("'{}' is only for faults, which '{}' is not", rest, word));
    }
    OUTLAST_TRY(read_condition(rest, words, happening));
  }
  return happening;
}

std::string format_happening(const Happening& happening, std::string_view cloud) {
  const std::vector<HappeningRow> rows = happenings_of(cloud);
  const HappeningRow* const row = find_row(rows, happening.word);
  std::string text = happening.word;
  if (!happening.choice.empty()) text += " " + happening.choice;
  if (happening.status != 0) text += fmt::format(" {}", happening.status);
  if (row != nullptr && row->takes_time) text += " " + format_duration(happening.time);
  if (!happening.path.empty()) text += " on " + happening.path;
  if (happening.once) text += " once";
  if (happening.lasts != Duration::max()) text += " for " + format_duration(happening.lasts);
  return text;
}

}  // namespace outlast::stand_in
