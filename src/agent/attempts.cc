#include "agent/attempts.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/stream_writer.h"
#include "base/result.h"
#include "checkpoint/read_object.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::agent {
namespace {

// The end of a stream that has at least so many lines, or all of it.
Result<std::string> stream_end(store::ObjectStore& job, const std::string& prefix,
                               std::size_t lines, const sys::CallContext& ctx) {
  std::vector<std::string> keys;
  store::ListOptions options = {.prefix = prefix};
  do {
    OUTLAST_TRY_ASSIGN(store::ListPage page, job.list(options, ctx));
    for (store::ObjectInfo& object : page.objects) keys.push_back(std::move(object.key));
    options.page_token = std::move(page.next);
  } while (!options.page_token.empty());
  std::string text;
  while (!keys.empty() && static_cast<std::size_t>(std::ranges::count(text, '\n')) <= lines) {
    OUTLAST_TRY_ASSIGN(const std::string segment,
                       checkpoint::read_object(job, keys.back(), StreamWriter::kHeldMax, ctx));
    text.insert(0, segment);
    keys.pop_back();
  }
  return text;
}

}  // namespace

Result<std::vector<job::Epoch>> list_attempts(store::ObjectStore& job,
                                              const sys::CallContext& ctx) {
  std::vector<job::Epoch> epochs;
  store::ListOptions options = {.prefix = std::string(kAttemptsPrefix), .folders = true};
  do {
    OUTLAST_TRY_ASSIGN(store::ListPage page, job.list(options, ctx));
    for (const std::string& folder : page.folders) {
      if (const Result<job::Epoch> epoch = parse_attempt_folder(folder)) epochs.push_back(*epoch);
    }
    options.page_token = std::move(page.next);
  } while (!options.page_token.empty());
  std::ranges::sort(epochs);
  return epochs;
}

Result<AttemptRecord> read_attempt(store::ObjectStore& job, job::Epoch epoch,
                                   const sys::CallContext& ctx) {
  const std::string key = attempt_key(epoch);
  OUTLAST_TRY_ASSIGN(const std::string text,
                     checkpoint::read_object(job, key, kAttemptBytesMax, ctx));
  return decode_attempt(text).while_doing(job.url_of(key));
}

std::vector<std::string> take_lines(std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  text.erase(0, at);
  return lines;
}

Result<std::vector<AttemptEvent>> last_events(store::ObjectStore& job,
                                              const std::vector<job::Epoch>& epochs,
                                              std::size_t count, const sys::CallContext& ctx) {
  std::vector<AttemptEvent> events;
  for (std::size_t i = epochs.size(); i > 0 && events.size() < count; --i) {
    const job::Epoch epoch = epochs[i - 1];
    OUTLAST_TRY_ASSIGN(std::string text, stream_end(job, events_prefix(epoch), count, ctx));
    std::vector<AttemptEvent> older;
    for (const std::string& line : take_lines(text)) {
      Result<Event> event = decode_event(line);
      if (event) older.push_back({.epoch = epoch, .event = *std::move(event)});
    }
    const std::size_t wanted = std::min(older.size(), count - events.size());
    older.erase(older.begin(), older.end() - static_cast<std::ptrdiff_t>(wanted));
    events.insert(events.begin(), older.begin(), older.end());
  }
  return events;
}

}  // namespace outlast::agent
