#include "sim/workloads/wal_counter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kRecordBytes = 12;
using Record = std::array<std::byte, kRecordBytes>;

void put_little_endian(std::uint64_t value, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(value >> (8 * i) & 0xffU);
}

std::uint64_t get_little_endian(const std::byte* in, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(in[i]);
  return value;
}

Record encode(std::uint64_t value) {
  Record record{};
  put_little_endian(value, record.data(), 8);
  put_little_endian(crc32c(BytesView(record).first(8)), record.data() + 8, 4);
  return record;
}

// The value, if the record is whole.
std::optional<std::uint64_t> decode(const Record& record) {
  if (get_little_endian(record.data() + 8, 4) != crc32c(BytesView(record).first(8))) {
    return std::nullopt;
  }
  return get_little_endian(record.data(), 8);
}

}  // namespace

Result<std::unique_ptr<WalCounter>> WalCounter::open(sys::FileSystem& fs, std::string folder,
                                                     const WalSyncs& syncs) {
  auto counter = std::unique_ptr<WalCounter>(new WalCounter(fs, std::move(folder), syncs));
  OUTLAST_TRY(counter->recover().while_doing("open the counter in " + counter->folder_));
  return counter;
}

Result<void> WalCounter::recover() {
  OUTLAST_TRY(sys::make_dirs(fs_, folder_));
  const std::string snapshot_path = sys::join_path(folder_, "counter.snapshot");
  const auto snapshot = fs_.open(snapshot_path, sys::OpenMode::kRead);
  if (snapshot) {
    Record record{};
    OUTLAST_TRY((*snapshot)->read_at(record, 0));
    const std::optional<std::uint64_t> value = decode(record);
    if (!value) return Error(ErrorCode::kCorrupt, "the snapshot is damaged");
    value_ = *value;
  } else if (snapshot.error().code() != ErrorCode::kNotFound) {
    return snapshot.error();
  }

  OUTLAST_TRY_ASSIGN(log_,
                     fs_.open(sys::join_path(folder_, "counter.log"), sys::OpenMode::kCreate));
  OUTLAST_TRY(fs_.sync_dir(folder_));
  Record record{};
  while (true) {
    OUTLAST_TRY_ASSIGN(const std::size_t n, log_->read_at(record, log_end_));
    if (n < kRecordBytes) break;
    const std::optional<std::uint64_t> value = decode(record);
    // Records up to the snapshot's value are left over from before it; they are followed by
    // nothing.
    if (!value || *value > value_ + 1) break;
    if (*value == value_ + 1) value_ = *value;
    log_end_ += kRecordBytes;
  }
  // A record that can be read need not be durable: if the sync of a life before this one failed, it
  // may be in the cache alone, and a new sync would not write it. What we build on is written anew.
  return compact();
}

Result<std::uint64_t> WalCounter::increment() {
  const Record record = encode(value_ + 1);
  OUTLAST_TRY(log_->write_at(record, log_end_));
  if (syncs_.record) OUTLAST_TRY(log_->sync());
  log_end_ += kRecordBytes;
  return ++value_;
}

Result<void> WalCounter::compact() {
  const std::string path = sys::join_path(folder_, "counter.snapshot");
  const std::string draft = path + ".tmp";
  OUTLAST_TRY_ASSIGN(const auto file, fs_.open(draft, sys::OpenMode::kTruncate));
  OUTLAST_TRY(file->write_at(encode(value_), 0));
  if (syncs_.snapshot) OUTLAST_TRY(file->sync());
  OUTLAST_TRY(fs_.rename(draft, path));
  if (syncs_.folder) OUTLAST_TRY(fs_.sync_dir(folder_));
  OUTLAST_TRY(log_->truncate(0));
  OUTLAST_TRY(log_->sync());
  log_end_ = 0;
  return {};
}

}  // namespace outlast::sim
