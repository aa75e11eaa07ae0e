#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr std::uint64_t kJournalBytesMax = 64U << 20U;
constexpr Duration kJournalWait =
    std::chrono::milliseconds(200);  // for a copy that is about to end
constexpr int kJournalTries = 10;
constexpr int kNewNames = 100;

// The journal is a line that says of what, then one line "<index> <crc32c>" for each part, of fixed
// length so that parts can be noted in parallel without a lock.
constexpr std::size_t kLineBytes = 26;  // 16 hex digits, a space, 8, a new line

std::string journal_line(std::uint64_t index, std::uint32_t crc) {
  return fmt::format("{:016x} {:08x}\n", index, crc);
}

class FileTarget : public Target {
 public:
  FileTarget(sys::FileSystem& files, sys::Clock& clock, std::string path)
      : files_(files),
        clock_(clock),
        path_(std::move(path)),
        part_path_(path_ + ".outlast-part"),
        journal_path_(part_path_ + "s") {}

  const std::string& name() const override { return path_; }
  PartBounds bounds() const override { return {}; }

  Result<void> put(BytesView whole, const sys::CallContext& ctx) override {
    if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped while writing");
    for (int n = 0; n < kNewNames; ++n) {
      const std::string new_path = fmt::format("{}.outlast-new-{}", path_, n);
      const auto file = open_new(new_path, sys::OpenMode::kCreateExclusive);
      if (!file) {
        if (file.error().code() == ErrorCode::kAlreadyExists) continue;  // another copy's
        return file.error();
      }
      Result<void> written = (*file)->write_at(whole, 0);
      if (written) written = files_.rename(new_path, path_);
      if (!written) static_cast<void>(files_.remove_file(new_path));
      return written;
    }
    return Error(ErrorCode::kFailed,
                 fmt::format("{0}.outlast-new-0 to {0}.outlast-new-{1} are there, left by copies "
                             "that were killed; remove them",
                             path_, kNewNames - 1));
  }

  Result<std::vector<StoredPart>> begin(const UploadPlan& plan, const std::string& source_identity,
                                        const sys::CallContext& ctx) override {
    OUTLAST_TRY(take_journal(ctx));
    plan_ = plan;
    head_ = fmt::format("outlast {} {} {}\n", plan.size, plan.part_bytes, source_identity);
    std::vector<StoredPart> stored = believable_parts();
    const auto mode = stored.empty() ? sys::OpenMode::kTruncate : sys::OpenMode::kCreate;
    OUTLAST_TRY_ASSIGN(part_, open_new(part_path_, mode));
    OUTLAST_TRY(journal_->truncate(0));
    OUTLAST_TRY(journal_->write_at(as_bytes(head_), 0));
    for (const StoredPart& part : stored) OUTLAST_TRY(note(part.index, part.crc32c.value_or(0)));
    return stored;
  }

  Result<std::uint32_t> copy_part(std::uint64_t index, Source& source, Bytes&,
                                  const sys::CallContext& ctx) override {
    const std::uint64_t begin = index * plan_.part_bytes;
    std::uint64_t offset = begin;
    std::uint32_t sum = 0;
    // Piece by piece, while a piece is still in the processor's cache.
    const auto write = [&](BytesView piece) -> Result<void> {
      sum = crc32c(piece, sum);
      OUTLAST_TRY(part_->write_at(piece, offset));
      offset += piece.size();
      return {};
    };
    OUTLAST_TRY(source.read_pieces(begin, plan_.bytes_of(index), write, ctx));
    OUTLAST_TRY(note(index, sum));
    return sum;
  }

  Result<bool> finish(std::uint32_t, const sys::CallContext&) override {
    OUTLAST_TRY(part_->truncate(plan_.size));
    // The name must not come to stand for less than the whole, should the power fail now.
    OUTLAST_TRY(part_->sync());
    OUTLAST_TRY(files_.rename(part_path_, path_));
    OUTLAST_TRY(files_.remove_file(journal_path_));
    lock_.reset();
    return false;
  }

 private:
  // Opens a file of ours, making the folder above it if that is missing.
  Result<std::unique_ptr<sys::File>> open_new(const std::string& path, sys::OpenMode mode) {
    Result<std::unique_ptr<sys::File>> file = files_.open(path, mode);
    if (file || file.error().code() != ErrorCode::kNotFound) return file;
    OUTLAST_TRY(sys::make_dirs(files_, sys::parent_path(path)));
    return files_.open(path, mode);
  }

  // Opens the journal as it is, and keeps others away from it and from the part file, which they
  // could otherwise empty under our hands.
  Result<void> take_journal(const sys::CallContext& ctx) {
    for (int n = 0; n < kJournalTries; ++n) {
      OUTLAST_TRY_ASSIGN(journal_, open_new(journal_path_, sys::OpenMode::kCreate));
      OUTLAST_TRY_ASSIGN(const sys::FileInfo opened, journal_->info());
      const MonoTime until = saturating_add(clock_.mono_now(), kJournalWait);
      Result<std::unique_ptr<sys::FileLock>> lock = files_.lock(journal_path_, ctx.until(until));
      if (!lock) {
        const ErrorCode code = lock.error().code();
        if (code == ErrorCode::kCancelled) return std::move(lock).error();
        if (code != ErrorCode::kDeadlineExceeded) return {};  // no locks here: copy all the same
        if (ctx.deadline <= until) return std::move(lock).error();
        break;
      }
      lock_ = *std::move(lock);
      // Whoever had it before may have ended, and removed what we have locked: then the name is
      // free for a third, or is a third's already.
      const Result<sys::FileInfo> named = files_.stat(journal_path_);
      if (named && named->inode == opened.inode) return {};
      lock_.reset();
    }
    return Error(ErrorCode::kUnavailable,
                 fmt::format("another copy to {} is under way, and has locked {}; wait until it "
                             "has ended, or copy to another name",
                             path_, journal_path_));
  }

  Result<void> note(std::uint64_t index, std::uint32_t crc) {
    std::uint64_t at = 0;
    {
      const MutexLock lock(mutex_);
      at = head_.size() + kLineBytes * noted_++;
    }
    return journal_->write_at(as_bytes(journal_line(index, crc)), at);
  }

  // What an earlier copy noted and the part file really holds. Anything odd means: nothing.
  std::vector<StoredPart> believable_parts() {
    const Result<std::string> journal = sys::read_file(files_, journal_path_, kJournalBytesMax);
    if (!journal || !journal->starts_with(head_)) return {};
    const Result<std::unique_ptr<sys::File>> file = files_.open(part_path_, sys::OpenMode::kRead);
    if (!file) return {};
    std::map<std::uint64_t, std::uint32_t> noted;
    std::string_view rest = std::string_view(*journal).substr(head_.size());
    for (; rest.size() >= kLineBytes; rest.remove_prefix(kLineBytes)) {
      const auto index = parse_number<std::uint64_t>(rest.substr(0, 16), 16);
      const auto crc = parse_number<std::uint32_t>(rest.substr(17, 8), 16);
      if (rest[16] != ' ' || rest[25] != '\n' || !index || !crc || *index >= plan_.part_count()) {
        continue;  // torn by the end of whoever wrote it
      }
      noted[*index] = *crc;
    }
    std::vector<StoredPart> stored;
    Bytes buffer;
    for (const auto& [index, crc] : noted) {
      buffer.resize(plan_.bytes_of(index));
      const Result<std::size_t> got = (*file)->read_at(buffer, index * plan_.part_bytes);
      if (got && *got == buffer.size() && crc32c(buffer) == crc) {
        stored.push_back({.index = index, .crc32c = crc});
      }
    }
    return stored;
  }

  sys::FileSystem& files_;
  sys::Clock& clock_;
  const std::string path_;
  const std::string part_path_;
  const std::string journal_path_;
  UploadPlan plan_;
  std::string head_;                     // the journal's first line
  std::unique_ptr<sys::FileLock> lock_;  // of the journal, for the time of begin() to finish()
  std::unique_ptr<sys::File> part_;
  std::unique_ptr<sys::File> journal_;
  Mutex mutex_;
  std::uint64_t noted_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<Target> make_file_target(sys::FileSystem& files, sys::Clock& clock,
                                         std::string path) {
  return std::make_unique<FileTarget>(files, clock, std::move(path));
}

}  // namespace outlast::store
