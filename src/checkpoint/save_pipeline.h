#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/chunk_table.h"
#include "checkpoint/codec.h"
#include "checkpoint/compression_policy.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/save_source.h"
#include "checkpoint/writer.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// One thing whose bytes are to be saved; its `item` gets its size and chunks.
struct SaveTask {
  Item* item = nullptr;
  // Opened again each time the bytes turn out to have changed under us.
  std::function<Result<std::unique_ptr<SaveSource>>()> open = {};
};

// The workers of one save: each takes pieces of what is to be saved, in order, and has a pack of
// its own that it uploads when it is full. So as much is in memory as there are workers, and while
// some wait for the store, others use the processor. Owned by one thread, used once.
class SavePipeline {
 public:
  SavePipeline(const WriterParts& parts, const SaveOptions& options, const PackSalt& salt,
               ChunkTable& table, CompressionPolicy& compression);

  // Until all chunks are placed and durable, or the first error. `progress` is where the save
  // stands before.
  Result<SaveProgress> run(std::vector<SaveTask> tasks, const SaveProgress& progress,
                           const sys::CallContext& ctx);

 private:
  struct Opened;
  struct Worker;
  struct Work;

  void spawn_workers(bool stand_back, std::vector<std::unique_ptr<sys::Thread>>& workers);
  void run_worker(bool stands_back, const std::stop_token& stop);
  std::optional<Work> next_work(bool stands_back, const std::stop_token& stop);
  Result<void> do_work(const Work& work, Worker& worker, const sys::CallContext& ctx);
  Result<void> open(SaveTask& task, unsigned tries, Worker& worker, const sys::CallContext& ctx);
  Result<void> save_chunks(Opened& opened, std::size_t first, std::size_t count, Worker& worker,
                           const sys::CallContext& ctx);
  Result<void> save_chunk(Opened& opened, std::size_t index, Worker& worker,
                          const sys::CallContext& ctx);
  Result<void> close(Opened& opened, Worker& worker, const sys::CallContext& ctx);
  Result<void> upload(Worker& worker, const sys::CallContext& ctx);
  Result<void> wait_for_workers(std::vector<std::unique_ptr<sys::Thread>>& workers,
                                const sys::CallContext& ctx);

  const WriterParts parts_;
  const SaveOptions options_;
  const PackSalt salt_;
  ChunkTable& table_;
  CompressionPolicy& compression_;
  unsigned useful_ = 1;  // workers

  std::unique_ptr<sys::Monitor> monitor_;  // guards everything below
  std::vector<SaveTask> tasks_;
  std::size_t next_task_ = 0;
  std::deque<std::shared_ptr<Opened>> opened_;  // with chunks that nobody has taken
  unsigned busy_ = 0;                           // workers that may bring more work
  unsigned running_ = 0;
  bool is_hurried_ = false;  // others have come who do not stand back
  SaveProgress progress_;
  std::optional<Error> failure_;
  std::stop_source stop_;  // of all requests, at the first failure
};

}  // namespace outlast::checkpoint
