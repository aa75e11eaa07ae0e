#include "checkpoint/save_pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/chunk_table.h"
#include "checkpoint/chunking.h"
#include "checkpoint/codec.h"
#include "checkpoint/compression_policy.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/save_source.h"
#include "checkpoint/writer.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::checkpoint {
namespace {

// What a worker takes at once: enough that taking it costs nothing, little enough that all workers
// end at about the same time.
constexpr std::uint64_t kTakenBytes = 4U << 20U;
constexpr unsigned kTriesMax = 3;
constexpr Duration kWatchEvery = std::chrono::milliseconds(100);

}  // namespace

struct SavePipeline::Opened {
  SaveTask* task = nullptr;
  unsigned tries = 1;
  std::unique_ptr<SaveSource> source;
  std::vector<std::uint32_t> ids;  // by chunk; each worker writes its own
  std::size_t next = 0;            // the first chunk that nobody has taken
  std::size_t left = 0;            // chunks that are not done
  std::uint64_t bytes_read = 0;
  std::optional<Error> change;  // under our hands: all of it must be read again
};

struct SavePipeline::Worker {
  Codec codec;
  Sha256 hash;
  PackBuilder pack;
  std::vector<std::pair<std::uint32_t, StoredChunk>> packed = {};  // by id, in the pack
  Bytes buffer = {};
};

struct SavePipeline::Work {
  SaveTask* task = nullptr;             // either this is to be opened
  std::shared_ptr<Opened> opened = {};  // or these chunks of it are to be saved
  std::size_t first = 0;
  std::size_t count = 0;
};

SavePipeline::SavePipeline(const WriterParts& parts, const SaveOptions& options,
                           const PackSalt& salt, ChunkTable& table, CompressionPolicy& compression)
    : parts_(parts),
      options_(options),
      salt_(salt),
      table_(table),
      compression_(compression),
      monitor_(parts.threads.make_monitor()) {}

Result<SaveProgress> SavePipeline::run(std::vector<SaveTask> tasks, const SaveProgress& progress,
                                       const sys::CallContext& ctx) {
  tasks_ = std::move(tasks);
  progress_ = progress;
  // Few bytes need few workers, and then lie in few packs.
  const std::uint64_t bytes = progress.bytes - progress.bytes_known;
  useful_ = static_cast<unsigned>(
      std::min<std::uint64_t>(bytes / options_.pack_bytes + 1, options_.workers));
  std::vector<std::unique_ptr<sys::Thread>> workers;
  running_ = useful_;
  spawn_workers(options_.stands_back, workers);
  Result<void> done = wait_for_workers(workers, ctx);
  if (!done) stop_.request_stop();
  for (const auto& worker : workers) worker->join();
  if (!done) return std::move(done).error();
  return progress_;
}

void SavePipeline::spawn_workers(bool stand_back,
                                 std::vector<std::unique_ptr<sys::Thread>>& workers) {
  for (unsigned i = 0; i < useful_; ++i) {
    workers.push_back(parts_.threads.spawn(
        fmt::format("save-{}", workers.size()),
        [this, stand_back](const std::stop_token& stop) { run_worker(stand_back, stop); }));
  }
}

Result<void> SavePipeline::wait_for_workers(std::vector<std::unique_ptr<sys::Thread>>& workers,
                                            const sys::CallContext& ctx) {
  while (true) {
    SaveProgress now;
    bool relieve = false;
    {
      const std::unique_lock lock(*monitor_);
      now = progress_;
      // Who stands back cannot be made to step forward again: others take the work over.
      relieve = options_.stands_back && !is_hurried_ && options_.hurry.stop_requested();
      if (relieve) {
        is_hurried_ = true;
        running_ += useful_;
      }
    }
    if (relieve) spawn_workers(false, workers);
    if (options_.watch) options_.watch(now);
    const sys::CallContext moment = ctx.until(saturating_add(parts_.clock.mono_now(), kWatchEvery));
    const std::unique_lock lock(*monitor_);
    if (failure_) return *failure_;
    if (running_ == 0) return {};
    const sys::Woken woken = monitor_->wait(moment);
    if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "the save was stopped");
    if (woken == sys::Woken::kDeadline && moment.deadline == ctx.deadline) {
      return Error(ErrorCode::kDeadlineExceeded, "the save took too long");
    }
  }
}

void SavePipeline::run_worker(bool stands_back, const std::stop_token& stop) {
  if (stands_back) parts_.threads.stand_back();
  const sys::CallContext ctx = {.stop = stop_.get_token()};
  Worker worker{.codec = Codec(),
                .hash = Sha256(),
                .pack = PackBuilder(salt_, options_.pack_bytes + kChunkBytesMax)};
  Result<void> done = {};
  while (std::optional<Work> work = next_work(stands_back, stop)) {
    done = do_work(*work, worker, ctx);
    const std::unique_lock lock(*monitor_);
    if (monitor_->caller_is_gone()) return;
    --busy_;
    if (!done && !failure_) failure_ = done.error();
    monitor_->notify_all();
    if (!done) break;
  }
  if (done && !stop_.stop_requested()) done = upload(worker, ctx);
  const std::unique_lock lock(*monitor_);
  if (monitor_->caller_is_gone()) return;
  if (!done && !failure_) failure_ = done.error();
  --running_;
  monitor_->notify_all();
}

std::optional<SavePipeline::Work> SavePipeline::next_work(bool stands_back,
                                                          const std::stop_token& stop) {
  const std::unique_lock lock(*monitor_);
  while (true) {
    if (stands_back && is_hurried_) return std::nullopt;
    if (failure_ || stop_.stop_requested() || monitor_->caller_is_gone()) return std::nullopt;
    Work work;
    if (!opened_.empty()) {
      work.opened = opened_.front();
      Opened& opened = *work.opened;
      const std::vector<ChunkPlan>& plan = opened.source->plan();
      work.first = opened.next;
      for (std::uint64_t bytes = 0; opened.next < plan.size() && bytes < kTakenBytes;) {
        bytes += plan[opened.next++].bytes;
      }
      work.count = opened.next - work.first;
      if (opened.next == plan.size()) opened_.pop_front();
    } else if (next_task_ < tasks_.size()) {
      work.task = &tasks_[next_task_++];
    } else if (busy_ == 0) {
      monitor_->notify_all();  // the others wait for what will not come
      return std::nullopt;
    } else {
      if (monitor_->wait({.stop = stop}) == sys::Woken::kStopped) return std::nullopt;
      continue;
    }
    ++busy_;
    return work;
  }
}

Result<void> SavePipeline::do_work(const Work& work, Worker& worker, const sys::CallContext& ctx) {
  if (work.task != nullptr) return open(*work.task, 1, worker, ctx);
  return save_chunks(*work.opened, work.first, work.count, worker, ctx);
}

Result<void> SavePipeline::open(SaveTask& task, unsigned tries, Worker& worker,
                                const sys::CallContext& ctx) {
  const auto opened = std::make_shared<Opened>();  // shared with the workers that save its chunks
  opened->task = &task;
  opened->tries = tries;
  OUTLAST_TRY_ASSIGN(opened->source, task.open());
  const std::vector<ChunkPlan>& plan = opened->source->plan();
  opened->ids.resize(plan.size());
  opened->left = plan.size();
  std::uint64_t bytes = 0;
  for (const ChunkPlan& chunk : plan) bytes += chunk.bytes;
  if (bytes <= kTakenBytes) {
    opened->next = plan.size();
    return plan.empty() ? close(*opened, worker, ctx)
                        : save_chunks(*opened, 0, plan.size(), worker, ctx);
  }
  const std::unique_lock lock(*monitor_);
  opened_.push_back(opened);
  monitor_->notify_all();
  return {};
}

Result<void> SavePipeline::save_chunks(Opened& opened, std::size_t first, std::size_t count,
                                       Worker& worker, const sys::CallContext& ctx) {
  std::optional<Error> change;
  for (std::size_t index = first; index < first + count && !change; ++index) {
    if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "the save was stopped");
    Result<void> saved = save_chunk(opened, index, worker, ctx);
    if (!saved && saved.error().code() != ErrorCode::kConditionFailed) return saved;
    if (!saved) change = saved.error();
  }
  bool last = false;
  {
    const std::unique_lock lock(*monitor_);
    if (change) opened.change = change;
    opened.left -= count;
    last = opened.left == 0;
  }
  return last ? close(opened, worker, ctx) : Result<void>();
}

Result<void> SavePipeline::save_chunk(Opened& opened, std::size_t index, Worker& worker,
                                      const sys::CallContext& ctx) {
  const ChunkPlan& plan = opened.source->plan()[index];
  OUTLAST_TRY_ASSIGN(const BytesView bytes, opened.source->read(plan, worker.buffer));
  worker.hash.update(bytes);
  const Sha256Digest name = worker.hash.finish();
  const ChunkTable::Claim claim = table_.claim(name);
  opened.ids[index] = claim.id;
  std::uint64_t stored = 0;
  if (claim.is_new && is_zero(bytes)) {
    table_.place_zeros(claim.id, {.name = name,
                                  .raw_bytes = static_cast<std::uint32_t>(bytes.size()),
                                  .codec = CodecKind::kZero});
  } else if (claim.is_new) {
    CodecKind kind = CodecKind::kNone;
    const bool compress = compression_.wanted();
    const MonoTime began = parts_.clock.mono_now();
    if (compress) kind = worker.codec.choose(bytes, plan.width);
    const StoredChunk chunk = worker.pack.add(name, bytes, kind, worker.codec);
    if (kind != CodecKind::kNone) {
      compression_.encoded(bytes.size(), parts_.clock.mono_now() - began);
    }
    stored = chunk.stored_bytes;
    worker.packed.emplace_back(claim.id, chunk);
  }
  {
    const std::unique_lock lock(*monitor_);
    opened.bytes_read += bytes.size();
    progress_.bytes_known += bytes.size();
    progress_.bytes_stored += stored;
    if (!claim.is_new) progress_.bytes_same += bytes.size();
  }
  return worker.pack.bytes() < options_.pack_bytes ? Result<void>() : upload(worker, ctx);
}

Result<void> SavePipeline::close(Opened& opened, Worker& worker, const sys::CallContext& ctx) {
  Item& item = *opened.task->item;
  Result<void> described = opened.change ? *opened.change : opened.source->describe(item);
  if (described) {
    item.chunks = std::move(opened.ids);
    return {};
  }
  if (described.error().code() != ErrorCode::kConditionFailed || opened.tries == kTriesMax) {
    return described;
  }
  {
    const std::unique_lock lock(*monitor_);
    ++progress_.files_again;
    progress_.bytes_known -= opened.bytes_read;
  }
  return open(*opened.task, opened.tries + 1, worker, ctx);
}

Result<void> SavePipeline::upload(Worker& worker, const sys::CallContext& ctx) {
  if (worker.pack.empty()) return {};
  PackBuilder::Pack pack = worker.pack.finish();
  compression_.upload_began(parts_.clock.mono_now());
  const Result<std::string> put =
      parts_.store.put(pack_key(pack.name), pack.bytes, store::WriteIf::always(), ctx);
  compression_.upload_ended(pack.bytes.size(), parts_.clock.mono_now());
  // A pack's name says its bytes: one that may or may not be there can be put again, and one that
  // was put twice is the same.
  if (!put) return put.error();
  for (const auto& [id, chunk] : worker.packed) table_.place(pack.name, id, chunk);
  worker.packed.clear();
  worker.pack.reuse(std::move(pack));
  return {};
}

}  // namespace outlast::checkpoint
