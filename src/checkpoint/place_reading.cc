#include "checkpoint/place_reading.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/layout.h"
#include "checkpoint/read_object.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kReadersMax = 16;

}  // namespace

Result<PlaceReading> read_place(store::ObjectStore& store, job::Seq seq,
                                const sys::CallContext& ctx) {
  PlaceReading reading{.seq = seq};
  const Result<std::string> text = read_object(store, entry_key(seq), job::kEntryBytesMax, ctx);
  if (!text) {
    if (text.error().code() == ErrorCode::kNotFound) return reading;
    if (text.error().code() != ErrorCode::kCorrupt) {
      return text.error().while_doing(fmt::format("read entry {} of the commit log", seq));
    }
    reading.damage = text.error();
    return reading;
  }
  Result<job::LogEntry> entry = job::decode_entry(*text, seq);
  if (entry) {
    reading.entry = *std::move(entry);
  } else if (entry.error().code() == ErrorCode::kCorrupt) {
    reading.damage = std::move(entry).error();
  } else {
    return std::move(entry).error();
  }
  return reading;
}

Result<std::vector<PlaceReading>> read_places(store::ObjectStore& store, sys::Threads& threads,
                                              const std::vector<job::Seq>& seqs,
                                              const sys::CallContext& ctx) {
  const std::size_t width = std::min(seqs.size(), kReadersMax);
  // A reader that ends before its time leaves this behind.
  std::vector<Result<PlaceReading>> slots(
      seqs.size(), Error(ErrorCode::kCancelled, "reading the commit log was called off"));
  const auto read_every = [&](std::size_t first, const sys::CallContext& until) {
    for (std::size_t i = first; i < seqs.size(); i += width) {
      slots[i] = read_place(store, seqs[i], until);
      if (!slots[i]) return;
    }
  };
  {
    // One of the readers is the caller: a single place needs no thread.
    std::vector<std::unique_ptr<sys::Thread>> readers;
    for (std::size_t i = 1; i < width; ++i) {
      readers.push_back(
          threads.spawn("log-reader", [&, i](const std::stop_token&) { read_every(i, ctx); }));
    }
    if (width > 0) read_every(0, ctx);
    for (const auto& reader : readers) reader->join();
  }
  std::vector<PlaceReading> readings;
  readings.reserve(slots.size());
  for (Result<PlaceReading>& slot : slots) {
    if (!slot) return std::move(slot).error();
    readings.push_back(*std::move(slot));
  }
  return readings;
}

}  // namespace outlast::checkpoint
