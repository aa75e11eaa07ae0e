#include "sim/workloads/store_race.h"

#include <fmt/core.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::sim {
namespace {

constexpr char kLogPrefix[] = "log/";

Result<std::string> read_text(store::ObjectStore& store, const std::string& key,
                              store::ObjectInfo& info, const sys::CallContext& ctx) {
  std::string text;
  const auto sink = [&](const store::ObjectInfo&, BytesView piece) -> Result<void> {
    text += as_text(piece);
    return {};
  };
  OUTLAST_TRY_ASSIGN(info, store.get(key, {}, sink, ctx));
  return text;
}

std::string format_counts(const RaceCounter::Counts& counts) {
  std::string text;
  for (const auto& [owner, count] : counts) text += fmt::format("{} {}\n", owner, count);
  return text;
}

}  // namespace

std::string RaceLog::key_of(std::uint64_t place) {
  return fmt::format("{}{:08}", kLogPrefix, place);
}

Result<void> RaceLog::find_end(const sys::CallContext& ctx) {
  store::ListOptions options{.prefix = kLogPrefix, .start_after = key_of(next_ - 1), .page_max = 4};
  do {
    OUTLAST_TRY_ASSIGN(const store::ListPage page, store_.list(options, ctx));
    next_ += page.objects.size();  // there is no gap
    options.page_token = page.next;
  } while (!options.page_token.empty());
  return {};
}

Result<RaceLog::Fate> RaceLog::read_back(std::uint64_t place, const std::string& entry,
                                         const sys::CallContext& ctx) {
  store::ObjectInfo info;
  const Result<std::string> found = read_text(store_, key_of(place), info, ctx);
  if (found) return *found == entry ? Fate::kOurs : Fate::kTaken;
  if (found.error().code() == ErrorCode::kNotFound) return Fate::kFree;
  return found.error();
}

Result<std::uint64_t> RaceLog::append(const std::string& entry, const sys::CallContext& ctx) {
  bool doubtful = false;  // this place may get our entry, or have it
  while (true) {
    const Result<std::string> put =
        store_.put(key_of(next_), as_bytes(entry), store::WriteIf::absent(), ctx);
    if (put) return next_++;
    const bool unknown = put.error().code() == ErrorCode::kUnknownOutcome;
    const bool taken = put.error().code() == ErrorCode::kAlreadyExists;
    if (!unknown && !taken) return put.error();
    if (unknown && in_doubt_ == InDoubt::kBelieveWon) return next_++;
    doubtful = (doubtful && in_doubt_ != InDoubt::kForgetItOnce) || unknown;
    if (doubtful && in_doubt_ != InDoubt::kBelieveLost) {
      OUTLAST_TRY_ASSIGN(const Fate fate, read_back(next_, entry, ctx));
      if (fate == Fate::kOurs) return next_++;
      // Nobody is there, and ours may still come: only filling the place settles it.
      if (fate == Fate::kFree) continue;
    }
    ++next_;
    doubtful = false;
  }
}

RaceCounter::RaceCounter(store::ObjectStore& store, std::string owner, const Options& options)
    : store_(store), owner_(std::move(owner)), options_(options) {}

const std::string& RaceCounter::key() {
  static const std::string the_key = "counter";
  return the_key;
}

RaceCounter::Counts RaceCounter::parse(const std::string& text) {
  Counts counts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = text.find(' ', at);
    const std::size_t end = text.find('\n', space);
    std::from_chars(text.data() + space + 1, text.data() + end,
                    counts[text.substr(at, space - at)]);
    at = end + 1;
  }
  return counts;
}

Result<RaceCounter::Seen> RaceCounter::look(const sys::CallContext& ctx) {
  store::ObjectInfo info;
  const Result<std::string> text = read_text(store_, key(), info, ctx);
  if (!text) {
    if (text.error().code() != ErrorCode::kNotFound) return text.error();
    return Seen{.unchanged = store::WriteIf::absent()};
  }
  return Seen{.counts = parse(*text), .unchanged = store::WriteIf::version_is(info.version)};
}

Result<std::uint64_t> RaceCounter::increment(const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(Seen seen, look(ctx));
  std::uint64_t target = seen.counts[owner_] + 1;
  while (true) {
    seen.counts[owner_] = target;
    const store::WriteIf condition =
        options_.conditional ? seen.unchanged : store::WriteIf::always();
    const Result<std::string> put =
        store_.put(key(), as_bytes(format_counts(seen.counts)), condition, ctx);
    if (put) return target;
    const ErrorCode code = put.error().code();
    const bool unknown = code == ErrorCode::kUnknownOutcome;
    if (!unknown && code != ErrorCode::kConditionFailed && code != ErrorCode::kAlreadyExists) {
      return put.error();
    }
    if (unknown && options_.in_doubt == InDoubt::kBelieveWon) return target;
    OUTLAST_TRY_ASSIGN(seen, look(ctx));
    if (options_.in_doubt == InDoubt::kBelieveLost) {
      target = seen.counts[owner_] + 1;
    } else if (seen.counts[owner_] >= target) {
      return target;
    }
  }
}

}  // namespace outlast::sim
