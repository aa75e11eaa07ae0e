#include "checkpoint/save_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/chunking.h"
#include "checkpoint/file_reader.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

class FileToSave : public SaveSource {
 public:
  FileToSave(std::unique_ptr<FileReader> reader, WallTime opened, std::vector<ChunkPlan> plan)
      : reader_(std::move(reader)), opened_(opened), plan_(std::move(plan)) {}

  const std::vector<ChunkPlan>& plan() const override { return plan_; }

  Result<BytesView> read(const ChunkPlan& chunk, Bytes& buffer) override {
    // Grows to the largest chunk and stays: making it fit each time would fill it with zeros.
    if (buffer.size() < chunk.bytes) buffer.resize(chunk.bytes);
    const std::span<std::byte> bytes(buffer.data(), chunk.bytes);
    OUTLAST_TRY(reader_->read(bytes, chunk.offset));
    return BytesView(bytes);
  }

  Result<void> describe(Item& item) override {
    OUTLAST_TRY(reader_->check_unchanged());
    const sys::FileInfo& info = reader_->info();
    item.size = info.size;
    item.mode = info.mode;
    item.modified = info.modified;
    item.identity = identity_of(info, opened_);
    return {};
  }

 private:
  const std::unique_ptr<FileReader> reader_;
  const WallTime opened_;
  const std::vector<ChunkPlan> plan_;
};

// Where to cut a region: at its tensors, if it is laid out as a file of them.
std::vector<ChunkPlan> plan_of(const Region& region) {
  if (may_be_safetensors(region.bytes.first(std::min(region.bytes.size(), kSafetensorsGlance)),
                         region.bytes.size())) {
    const Result<Safetensors> tensors = parse_safetensors(region.bytes);
    if (tensors) return plan_chunks(*tensors);
  }
  return plan_chunks(region.bytes.size(), region.width);
}

class RegionToSave : public SaveSource {
 public:
  explicit RegionToSave(const Region& region) : bytes_(region.bytes), plan_(plan_of(region)) {}

  const std::vector<ChunkPlan>& plan() const override { return plan_; }
  Result<BytesView> read(const ChunkPlan& chunk, Bytes&) override {
    return bytes_.subspan(chunk.offset, chunk.bytes);
  }
  Result<void> describe(Item& item) override {
    item.size = bytes_.size();
    return {};
  }

 private:
  const BytesView bytes_;
  const std::vector<ChunkPlan> plan_;
};

// Where to cut a file: at its tensors, if it has some that can be read.
Result<std::vector<ChunkPlan>> plan_of(FileReader& reader) {
  const std::uint64_t size = reader.info().size;
  std::array<std::byte, kSafetensorsGlance> beginning{};
  if (size >= beginning.size()) {
    OUTLAST_TRY(reader.read(beginning, 0));
    if (may_be_safetensors(beginning, size)) {
      const Result<Safetensors> tensors = read_safetensors(reader.file());
      // Whatever else it is can be saved, too.
      if (tensors) return plan_chunks(*tensors);
    }
  }
  return plan_chunks(size);
}

}  // namespace

Result<std::unique_ptr<SaveSource>> open_file_to_save(sys::FileSystem& files, sys::Clock& clock,
                                                      const std::string& path) {
  const WallTime opened = clock.wall_now();
  OUTLAST_TRY_ASSIGN(std::unique_ptr<FileReader> reader, FileReader::open(files, clock, path));
  OUTLAST_TRY_ASSIGN(std::vector<ChunkPlan> plan, plan_of(*reader));
  return std::make_unique<FileToSave>(std::move(reader), opened, std::move(plan));
}

std::unique_ptr<SaveSource> make_region_to_save(const Region& region) {
  return std::make_unique<RegionToSave>(region);
}

}  // namespace outlast::checkpoint
