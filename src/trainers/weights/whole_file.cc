#include "trainers/weights/whole_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::trainers {
namespace {

Result<void> write_draft(sys::FileSystem& files, const std::string& draft,
                         std::span<const BytesView> pieces) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> file,
                     files.open(draft, sys::OpenMode::kTruncate));
  std::uint64_t offset = 0;
  for (const BytesView piece : pieces) {
    if (piece.empty()) continue;
    OUTLAST_TRY(file->write_at(piece, offset));
    offset += piece.size();
  }
  return file->sync();
}

}  // namespace

Result<void> write_whole(sys::FileSystem& files, const std::string& path,
                         std::span<const BytesView> pieces) {
  const std::string draft = path + ".tmp";
  Result<void> written = write_draft(files, draft, pieces);
  if (written) written = files.rename(draft, path);
  if (!written) {
    // A draft that stays is overwritten by the next; the first error is the one to tell.
    (void)files.remove_file(draft);
    return written;
  }
  return files.sync_dir(sys::parent_path(path));
}

}  // namespace outlast::trainers
