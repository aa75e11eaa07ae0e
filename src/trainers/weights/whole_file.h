#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/file_system.h"

// Whole files at once: read as memory, written so that they are there entirely or not at all.
namespace outlast::trainers {

// Replaces `path` by these pieces, one after the other; when this returns, durably. Writes
// "<path>.tmp" beside it first, which an error removes if it can. One writer at a time.
Result<void> write_whole(sys::FileSystem& files, const std::string& path,
                         std::span<const BytesView> pieces);

// What `parse` makes of all bytes of a file, which live only while it runs.
template <typename Parse>
auto with_file_bytes(sys::FileSystem& files, const std::string& path, const Parse& parse)
    -> decltype(parse(BytesView())) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> file, files.open(path, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const auto size, file->size());
  if (size == 0) return parse(BytesView());
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::FileMap> map, file->map());
  return parse(map->bytes());
}

}  // namespace outlast::trainers
