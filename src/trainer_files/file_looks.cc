#include "trainer_files/file_looks.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainer_files/completeness.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

constexpr std::uint64_t kTextBytesMax = 1U << 20U;
// More than the step of any file system's clock (FAT's is two seconds): a file that was the same
// for so long cannot have changed without showing it.
constexpr Duration kClockStepMax = std::chrono::seconds(2);

Result<Completeness> check_as_listed(sys::FileSystem& files, const std::string& path,
                                     const ListedEntry& entry) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> file, files.open(path, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, file->info());
  if (info.size != entry.size || info.inode != entry.inode || info.modified != entry.modified) {
    return Completeness{.wholeness = Wholeness::kTorn, .why = "changed while it was looked at"};
  }
  return check_bytes(
      {.size = info.size, .read_at = [&](std::span<std::byte> buffer, std::uint64_t offset) {
         return file->read_at(buffer, offset);
       }});
}

}  // namespace

void FileLooks::start_round(MonoTime now) {
  std::erase_if(looks_, [&](const auto& look) { return look.second.used < now_; });
  now_ = now;
}

FileLooks::Look& FileLooks::look_at(const ListedEntry& entry) {
  Look& look = looks_[entry.path];
  if (look.entry != entry) look = {.entry = entry, .first_seen = now_};
  look.used = now_;
  return look;
}

// A look at a file that has only just changed is one at what may change again in the same moment.
bool FileLooks::may_remember(const Look& look) const {
  return now_ - look.first_seen > kClockStepMax;
}

Completeness FileLooks::completeness(const TreeListing& listing, const ListedEntry& entry) {
  Look& look = look_at(entry);
  if (look.completeness) return *look.completeness;
  const auto checked = check_as_listed(files_, listing.full_path(entry.path), entry);
  if (!checked) {
    return {.wholeness = Wholeness::kTorn,
            .why = fmt::format("cannot be read: {}", checked.error().to_string())};
  }
  if (may_remember(look)) look.completeness = *checked;
  return *checked;
}

std::string FileLooks::text(const TreeListing& listing, const ListedEntry& entry) {
  Look& look = look_at(entry);
  if (look.text) return *look.text;
  const std::string path = listing.full_path(entry.path);
  const auto text = sys::read_file(files_, path, kTextBytesMax);
  // After the reading: what it says must not be newer than the rest of the listing.
  const auto info = files_.stat(path);
  if (!text || !info || info->inode != entry.inode || info->size != entry.size ||
      info->modified != entry.modified) {
    return "";
  }
  if (may_remember(look)) look.text = *text;
  return *text;
}

}  // namespace outlast::trainer_files
