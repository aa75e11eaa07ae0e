#include "checkpoint/restore.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/result.h"
#include "checkpoint/chunk_fetch.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/parallel.h"
#include "checkpoint/tree_target.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

// Where a fetched chunk goes.
struct Destination {
  std::size_t file = 0;
  std::uint64_t offset = 0;
};

// One restore: what each file lacks, then the fetching of it.
class FolderRestore {
 public:
  FolderRestore(const LoadedCheckpoint& checkpoint, TreeTarget& target,
                const RestoreOptions& options)
      : checkpoint_(checkpoint),
        target_(target),
        options_(options),
        missing_(target.file_count()),
        left_(target.file_count()) {
    const MutexLock lock(mutex_);
    for (std::size_t file = 0; file < target_.file_count(); ++file) {
      progress_.bytes += target_.file(file).size;
    }
  }

  Result<void> run(const ReaderParts& parts, const sys::CallContext& ctx) {
    Crew crew = {.threads = parts.threads, .clock = parts.clock, .workers = options_.workers};
    if (options_.watch) crew.watch = [this] { options_.watch(progress()); };
    OUTLAST_TRY(look_at_files(crew, ctx));
    join_wants();
    const auto deliver = [this](std::size_t index, BytesView raw) { return write(index, raw); };
    return fetch_chunks(parts.store, crew, wanted_, deliver, ctx);
  }

  RestoreProgress progress() {
    const MutexLock lock(mutex_);
    return progress_;
  }

 private:
  Result<void> look_at_files(const Crew& crew, const sys::CallContext& ctx) {
    const Piece look = [this](std::size_t file, std::size_t,
                              const sys::CallContext& inner) -> Result<void> {
      OUTLAST_TRY_ASSIGN(missing_[file], target_.prepare(file, inner));
      left_[file] = missing_[file].size();
      std::uint64_t lacking = 0;
      for (const MissingChunk& missing : missing_[file]) lacking += chunk_of(missing).raw_bytes;
      add_done(target_.file(file).size - lacking);
      return {};
    };
    return do_in_parallel(crew, "look", target_.file_count(), look, ctx);
  }

  const StoredChunk& chunk_of(const MissingChunk& missing) const {
    return checkpoint_.manifests[missing.manifest].chunks[missing.chunk].chunk;
  }

  // A chunk that several files want is fetched once.
  void join_wants() {
    std::map<Sha256Digest, std::size_t> known;  // by name, in wanted_
    for (std::size_t file = 0; file < missing_.size(); ++file) {
      for (const MissingChunk& missing : missing_[file]) {
        const Manifest& manifest = checkpoint_.manifests[missing.manifest];
        const PlacedChunk& placed = manifest.chunks[missing.chunk];
        const auto [at, is_new] = known.try_emplace(placed.chunk.name, wanted_.size());
        if (is_new) {
          wanted_.push_back({.pack = manifest.packs[placed.pack], .chunk = placed.chunk});
          destinations_.emplace_back();
        }
        destinations_[at->second].push_back({.file = file, .offset = missing.offset});
      }
    }
  }

  Result<void> write(std::size_t index, BytesView raw) {
    for (const Destination& destination : destinations_[index]) {
      OUTLAST_TRY(target_.write(destination.file, destination.offset, raw));
      add_done(raw.size());
      if (--left_[destination.file] == 0) OUTLAST_TRY(target_.finish_file(destination.file));
    }
    return {};
  }

  void add_done(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    progress_.bytes_done += bytes;
  }

  const LoadedCheckpoint& checkpoint_;
  TreeTarget& target_;
  const RestoreOptions& options_;
  std::vector<std::vector<MissingChunk>> missing_;  // by file; each worker writes its own
  std::vector<std::atomic<std::size_t>> left_;      // chunks, by file
  std::vector<WantedChunk> wanted_;
  std::vector<std::vector<Destination>> destinations_;  // by wanted chunk
  Mutex mutex_;
  RestoreProgress progress_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace

Result<RestoreSummary> restore_to_folder(const ReaderParts& parts, sys::FileSystem& files,
                                         const LoadedCheckpoint& checkpoint,
                                         const std::string& folder, const RestoreOptions& options,
                                         const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(
      const std::unique_ptr<TreeTarget> target,
      TreeTarget::begin(files, checkpoint.manifests, folder, {.exact = options.exact}, ctx));
  FolderRestore restore(checkpoint, *target, options);
  OUTLAST_TRY(restore.run(parts, ctx));
  OUTLAST_TRY_ASSIGN(const TreeTarget::Summary done, target->finish(ctx));
  return RestoreSummary{.files = target->file_count(),
                        .bytes = restore.progress().bytes,
                        .bytes_fetched = done.bytes_written,
                        .files_changed = done.files_written,
                        .left_alone = done.left_alone,
                        .removed = done.removed};
}

}  // namespace outlast::checkpoint
