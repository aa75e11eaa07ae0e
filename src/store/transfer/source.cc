#include "store/transfer/source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

// Stays in the processor's cache between the one who reads it and the one who takes it.
constexpr std::uint64_t kPieceBytes = 256U << 10U;

class FileSource : public Source {
 public:
  FileSource(sys::FileSystem& files, std::string path, std::unique_ptr<sys::File> file,
             const sys::FileInfo& info)
      : files_(files), path_(std::move(path)), file_(std::move(file)), info_(info) {}

  const std::string& name() const override { return path_; }
  std::uint64_t size() const override { return info_.size; }
  std::string identity() const override { return identity_of(info_); }
  std::optional<std::uint32_t> crc32c() const override { return std::nullopt; }

  Result<void> read(std::span<std::byte> buffer, std::uint64_t offset,
                    const sys::CallContext& ctx) override {
    if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped while reading");
    OUTLAST_TRY_ASSIGN(const std::size_t got, file_->read_at(buffer, offset));
    if (got != buffer.size()) return changed();
    return {};
  }

  Result<void> read_pieces(std::uint64_t offset, std::uint64_t length,
                           const std::function<Result<void>(BytesView)>& sink,
                           const sys::CallContext& ctx) override {
    Bytes buffer(std::min(length, kPieceBytes));
    for (std::uint64_t done = 0; done < length;) {
      const std::span<std::byte> piece(buffer.data(), std::min(length - done, kPieceBytes));
      OUTLAST_TRY(read(piece, offset + done, ctx));
      OUTLAST_TRY(sink(piece));
      done += piece.size();
    }
    return {};
  }

  Result<void> check_unchanged() override {
    OUTLAST_TRY_ASSIGN(sys::FileInfo now, files_.stat(path_));
    OUTLAST_TRY_ASSIGN(now.size, file_->size());
    if (identity_of(now) != identity_of(info_)) return changed();
    return {};
  }

 private:
  static std::string identity_of(const sys::FileInfo& info) {
    return fmt::format("{}-{}-{}", info.size, info.modified.time_since_epoch().count(), info.inode);
  }
  Error changed() const {
    return {ErrorCode::kConditionFailed,
            fmt::format("'{}' changed while it was read; copy it again when nobody writes to it",
                        path_)};
  }

  sys::FileSystem& files_;
  const std::string path_;
  const std::unique_ptr<sys::File> file_;
  const sys::FileInfo info_;
};

class ObjectSource : public Source {
 public:
  ObjectSource(ObjectStore& store, ObjectInfo object)
      : store_(store), object_(std::move(object)), name_(store.url_of(object_.key)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return object_.size; }
  std::string identity() const override { return object_.version; }
  std::optional<std::uint32_t> crc32c() const override { return object_.crc32c; }

  Result<void> read(std::span<std::byte> buffer, std::uint64_t offset,
                    const sys::CallContext& ctx) override {
    std::size_t filled = 0;
    const auto fill = [&](BytesView piece) -> Result<void> {
      std::copy(piece.begin(), piece.end(), buffer.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += piece.size();
      return {};
    };
    return read_pieces(offset, buffer.size(), fill, ctx);
  }

  Result<void> read_pieces(std::uint64_t offset, std::uint64_t length,
                           const std::function<Result<void>(BytesView)>& sink,
                           const sys::CallContext& ctx) override {
    if (length == 0) return {};
    GetOptions options = {.if_version = object_.version};
    // A whole read is one that the store checks against its checksum.
    if (length != object_.size) options.range = ByteRange{.offset = offset, .length = length};
    std::uint64_t got = 0;
    const ByteSink counted = [&](const ObjectInfo&, BytesView piece) -> Result<void> {
      got += piece.size();
      if (got > length) return wrong_length(got);
      return sink(piece);
    };
    OUTLAST_TRY(store_.get(object_.key, options, counted, ctx));
    if (got != length) return wrong_length(got);
    return {};
  }

  Result<void> check_unchanged() override { return {}; }  // every read was of one version

 private:
  Error wrong_length(std::uint64_t got) const {
    return {ErrorCode::kCorrupt,
            fmt::format("{} gave {} bytes, which is not what was asked for", name_, got)};
  }

  ObjectStore& store_;
  const ObjectInfo object_;
  const std::string name_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_file_source(sys::FileSystem& files, std::string path) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::File> file, files.open(path, sys::OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(sys::FileInfo info, files.stat(path));
  if (info.type == sys::FileType::kDirectory) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is a folder; copy it with --recursive", path));
  }
  if (info.type == sys::FileType::kSymlink) {
    // stat() does not follow links, but open() did: what counts is the file behind.
    OUTLAST_TRY_ASSIGN(info.size, file->size());
  } else if (info.type != sys::FileType::kFile) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a plain file: only files can be copied", path));
  }
  return std::make_unique<FileSource>(files, std::move(path), std::move(file), info);
}

std::unique_ptr<Source> make_object_source(ObjectStore& store, ObjectInfo object) {
  return std::make_unique<ObjectSource>(store, std::move(object));
}

}  // namespace outlast::store
