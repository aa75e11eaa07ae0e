// What is in files, and what a crash leaves of everything. Names and folders: disk_names.cc.
#include "sim/disk.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/file_system.h"

namespace outlast::sim {
namespace {

constexpr Disk::Inode kRoot = 1;
constexpr Duration kChangedStep = std::chrono::milliseconds(4);  // a kernel with 250 ticks a second

}  // namespace

Disk::Disk(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {
  Node& root = nodes_[kRoot];
  root.type = sys::FileType::kDirectory;
  root.links = 1;
  root.attributes.mode = root.durable_attributes.mode = 0755;
}

void Disk::touch(Node& target, WallTime now) {
  target.attributes.changed = WallTime(now.time_since_epoch() / kChangedStep * kChangedStep);
}

void Disk::touch_content(Node& target, WallTime now) {
  target.attributes.modified = now;
  touch(target, now);
}

Result<std::size_t> Disk::read(Inode file, std::span<std::byte> buffer,
                               std::uint64_t offset) const {
  const Bytes& content = node(file).content;
  if (offset >= content.size()) return std::size_t{0};
  const std::size_t count = std::min(buffer.size(), content.size() - offset);
  std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), count, buffer.begin());
  return count;
}

Result<void> Disk::write(Inode file, BytesView bytes, std::uint64_t offset, WallTime now) {
  Node& target = node(file);
  const std::uint64_t old_size = target.content.size();
  const std::uint64_t size_max = old_size + (capacity_ > used_ ? capacity_ - used_ : 0);
  const bool full = offset > size_max || bytes.size() > size_max - offset;
  if (full) bytes = bytes.first(offset < size_max ? size_max - offset : 0);
  if (!bytes.empty()) {
    Change change{
        .kind = Change::Kind::kWrite, .offset = offset, .bytes = Bytes(bytes.begin(), bytes.end())};
    apply(change, target.content);
    target.unsynced.push_back(std::move(change));
    touch_content(target, now);
    if (!target.nameless) used_ += target.content.size() - old_size;
  }
  if (full) return Error(ErrorCode::kNoSpace, "No space left on device");
  return {};
}

Result<void> Disk::truncate(Inode file, std::uint64_t size, WallTime now) {
  Node& target = node(file);
  const std::uint64_t old_size = target.content.size();
  if (size > old_size && size - old_size > capacity_ - std::min(capacity_, used_)) {
    return Error(ErrorCode::kNoSpace, "No space left on device");
  }
  Change change{.kind = Change::Kind::kTruncate, .offset = size, .bytes = {}};
  apply(change, target.content);
  target.unsynced.push_back(std::move(change));
  touch_content(target, now);
  if (!target.nameless) used_ = used_ - old_size + size;
  return {};
}

void Disk::apply(const Change& change, Bytes& content) {
  if (change.kind == Change::Kind::kTruncate) {
    content.resize(change.offset);
    return;
  }
  content.resize(std::max<std::size_t>(content.size(), change.offset + change.bytes.size()));
  std::copy(change.bytes.begin(), change.bytes.end(),
            content.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

std::uint64_t Disk::size(Inode file) const {
  return node(file).content.size();
}

sys::FileInfo Disk::info(Inode file) const {
  const Node& target = node(file);
  return {.type = target.type,
          .size = target.content.size(),
          .modified = target.attributes.modified,
          .changed = target.attributes.changed,
          .mode = target.attributes.mode,
          .device = 1,
          .inode = file,
          .links = target.links};
}

void Disk::set_modified(Inode file, WallTime when, WallTime now) {
  node(file).attributes.modified = when;
  touch(node(file), now);
}

void Disk::sync(Inode file) {
  Node& target = node(file);
  for (const Change& change : target.unsynced) apply(change, target.durable);
  target.unsynced.clear();
  target.durable_attributes = target.attributes;
}

void Disk::sync_in_vain(Inode file, Random& random) {
  Node& target = node(file);
  for (Change& change : target.unsynced) {
    switch (random.below(3)) {
      case 0:
        break;  // lost
      case 1:   // torn: a prefix of the bytes
        change.bytes.resize(random.below(change.bytes.size() + 1));
        if (change.kind == Change::Kind::kWrite && change.bytes.empty()) break;
        [[fallthrough]];
      default:
        apply(change, target.durable);
    }
  }
  target.unsynced.clear();
}

void Disk::sync_all() {
  for (auto& [inode, target] : nodes_) sync(inode);
  commit_names(std::vector<bool>(unsynced_names_.size(), true));
}

void Disk::sync_all_in_vain(Random& random) {
  for (auto& [inode, target] : nodes_) sync_in_vain(inode, random);
}

sys::DiskSpace Disk::space() const {
  return {.total_bytes = capacity_, .available_bytes = capacity_ - std::min(capacity_, used_)};
}

void Disk::crash(Random& random) {
  const double luck = random.unit();  // some crashes lose nearly everything, some nearly nothing
  std::vector<bool> lucky;
  lucky.reserve(unsynced_names_.size());
  for (std::size_t i = 0; i < unsynced_names_.size(); ++i) lucky.push_back(random.chance(luck));
  commit_names(std::move(lucky));
  unsynced_names_.clear();
  for (auto& [inode, target] : nodes_) {
    sync_in_vain(inode, random);
    target.content = target.durable;
    target.attributes = target.durable_attributes;
    target.names = target.durable_names;
  }
  drop_unreachable();
}

// A file that no name leads to is gone, and so is its space. An open file would live on, but nobody
// is left to have one open.
void Disk::drop_unreachable() {
  for (auto& [inode, target] : nodes_) target.links = inode == kRoot ? 1 : 0;
  std::vector<Inode> open = {kRoot};
  while (!open.empty()) {
    const Inode folder = open.back();
    open.pop_back();
    for (const auto& [name, target] : node(folder).names) {
      if (++node(target).links == 1) open.push_back(target);
    }
  }
  std::erase_if(nodes_, [&](const auto& entry) { return entry.second.links == 0; });
  used_ = 0;
  for (auto& [inode, target] : nodes_) {
    target.nameless = false;  // a removal that did not survive gives the name back
    used_ += target.content.size();
  }
}

}  // namespace outlast::sim
