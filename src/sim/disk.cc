#include "sim/disk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
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

Error no_such(const std::string& path) {
  return {ErrorCode::kNotFound, fmt::format("{}: No such file or directory", path)};
}
Error exists(const std::string& path) {
  return {ErrorCode::kAlreadyExists, fmt::format("{}: File exists", path)};
}
Error wrong_type(const std::string& path, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, what)};
}

}  // namespace

Disk::Disk(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {
  nodes_[kRoot].type = sys::FileType::kDirectory;
}

Result<Disk::Place> Disk::place_of(const std::string& path) const {
  Place place{.folder = kRoot, .name = ""};
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the slash
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    if (!place.name.empty()) {
      const Inode next = lookup(place);
      if (next == 0 || node(next).type != sys::FileType::kDirectory) return no_such(path);
      place.folder = next;
    }
    place.name = name;
  }
  return place;
}

Disk::Inode Disk::lookup(const Place& place) const {
  if (place.name.empty()) return place.folder;  // "/"
  const Names& names = node(place.folder).names;
  const auto found = names.find(place.name);
  return found == names.end() ? 0 : found->second;
}

Result<Disk::Inode> Disk::find(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path));
  const Inode inode = lookup(place);
  if (inode == 0) return no_such(path);
  return inode;
}

Result<Disk::Inode> Disk::open(const std::string& path, sys::OpenMode mode, WallTime now) {
  using sys::OpenMode;
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path));
  Inode inode = lookup(place);
  if (inode == 0) {
    if (mode == OpenMode::kRead || mode == OpenMode::kWrite) return no_such(path);
    inode = next_inode_++;
    nodes_[inode].modified = nodes_[inode].durable_modified = now;
    change_names({.parts = {{.folder = place.folder, .name = place.name, .target = inode}}});
    return inode;
  }
  if (mode == OpenMode::kCreateExclusive) return exists(path);
  if (node(inode).type != sys::FileType::kFile) return wrong_type(path, "Is a directory");
  if (mode == OpenMode::kTruncate) OUTLAST_TRY(truncate(inode, 0, now));
  return inode;
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
    target.modified = now;
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
  target.modified = now;
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

void Disk::sync(Inode file) {
  Node& target = node(file);
  for (const Change& change : target.unsynced) apply(change, target.durable);
  target.unsynced.clear();
  target.durable_modified = target.modified;
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

Result<sys::FileInfo> Disk::stat(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  return info(inode);
}

sys::FileInfo Disk::info(Inode file) const {
  const Node& target = node(file);
  const bool folder = target.type == sys::FileType::kDirectory;
  return {.type = target.type,
          .size = target.content.size(),
          .modified = target.modified,
          .mode = target.mode.value_or(folder ? 0755U : 0644U),
          .inode = file,
          .links = folder ? 1 : links(file)};
}

Result<std::vector<sys::DirectoryEntry>> Disk::list(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  if (node(inode).type != sys::FileType::kDirectory) return no_such(path);
  std::vector<sys::DirectoryEntry> entries;
  for (const auto& [name, target] : node(inode).names) {
    entries.push_back({.name = name, .type = node(target).type});
  }
  return entries;
}

Result<void> Disk::make_dir(const std::string& path, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path));
  if (lookup(place) != 0) return exists(path);
  const Inode inode = next_inode_++;
  nodes_[inode].type = sys::FileType::kDirectory;
  nodes_[inode].modified = nodes_[inode].durable_modified = now;
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = inode}}});
  return {};
}

Result<void> Disk::rename(const std::string& from, const std::string& to) {
  OUTLAST_TRY_ASSIGN(const Place source, place_of(from));
  OUTLAST_TRY_ASSIGN(const Place target, place_of(to));
  const Inode moved = lookup(source);
  const Inode replaced = lookup(target);
  if (moved == 0) return no_such(from);
  if (moved == replaced) return {};
  if (to.starts_with(from + "/")) return wrong_type(to, "Invalid argument");
  if (replaced != 0) {
    if (node(moved).type != node(replaced).type) return wrong_type(to, "Is another type of file");
    if (!node(replaced).names.empty()) return exists(to);
  }
  change_names({.parts = {{.folder = source.folder, .name = source.name, .target = 0},
                          {.folder = target.folder, .name = target.name, .target = moved}}});
  if (replaced != 0) release_if_nameless(replaced);
  return {};
}

Result<void> Disk::link(const std::string& from, const std::string& to) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(from));
  OUTLAST_TRY_ASSIGN(const Place place, place_of(to));
  if (node(inode).type == sys::FileType::kDirectory) return wrong_type(from, "Is a directory");
  if (lookup(place) != 0) return exists(to);
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = inode}}});
  return {};
}

Result<void> Disk::remove_file(const std::string& path) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path));
  const Inode inode = lookup(place);
  if (inode == 0) return no_such(path);
  if (node(inode).type == sys::FileType::kDirectory) return wrong_type(path, "Is a directory");
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = 0}}});
  release_if_nameless(inode);
  return {};
}

Result<void> Disk::set_mode(const std::string& path, std::uint32_t mode) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  node(inode).mode = mode & 07777U;
  return {};
}

Result<void> Disk::remove_dir(const std::string& path) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path));
  const Inode inode = lookup(place);
  if (inode == 0 || node(inode).type != sys::FileType::kDirectory) return no_such(path);
  if (!node(inode).names.empty()) return exists(path);
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = 0}}});
  return {};
}

Result<void> Disk::sync_dir(const std::string& path) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  if (node(inode).type != sys::FileType::kDirectory) return no_such(path);
  std::vector<bool> chosen;
  chosen.reserve(unsynced_names_.size());
  for (const NameChange& change : unsynced_names_) chosen.push_back(change.touches({inode}));
  commit_names(std::move(chosen));
  return {};
}

sys::DiskSpace Disk::space() const {
  return {.total_bytes = capacity_, .available_bytes = capacity_ - std::min(capacity_, used_)};
}

bool Disk::NameChange::touches(const std::set<Inode>& folders) const {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part& part) { return folders.contains(part.folder); });
}

void Disk::change_names(NameChange change) {
  for (const auto& [folder, name, target] : change.parts) {
    if (target == 0) {
      node(folder).names.erase(name);
    } else {
      node(folder).names[name] = target;
    }
  }
  unsynced_names_.push_back(std::move(change));
}

void Disk::release_if_nameless(Inode inode) {
  if (links(inode) != 0) return;
  node(inode).nameless = true;
  used_ -= node(inode).content.size();
}

void Disk::apply_durably(const NameChange& change) {
  for (const auto& [folder, name, target] : change.parts) {
    if (target == 0) {
      node(folder).durable_names.erase(name);
    } else {
      node(folder).durable_names[name] = target;
    }
  }
}

void Disk::commit_names(std::vector<bool> chosen) {
  std::set<Inode> folders;
  for (std::size_t i = unsynced_names_.size(); i-- > 0;) {
    chosen[i] = chosen[i] || unsynced_names_[i].touches(folders);
    if (!chosen[i]) continue;
    for (const auto& part : unsynced_names_[i].parts) folders.insert(part.folder);
  }
  std::vector<NameChange> rest;
  for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
    if (chosen[i]) {
      apply_durably(unsynced_names_[i]);
    } else {
      rest.push_back(std::move(unsynced_names_[i]));
    }
  }
  unsynced_names_ = std::move(rest);
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
    target.modified = target.durable_modified;
    target.names = target.durable_names;
  }
  drop_unreachable();
}

// A file that no name leads to is gone, and so is its space. An open file would live on, but nobody
// is left to have one open.
void Disk::drop_unreachable() {
  std::set<Inode> reached = {kRoot};
  std::vector<Inode> open = {kRoot};
  while (!open.empty()) {
    const Inode folder = open.back();
    open.pop_back();
    for (const auto& [name, target] : node(folder).names) {
      if (reached.insert(target).second) open.push_back(target);
    }
  }
  std::erase_if(nodes_, [&](const auto& entry) { return !reached.contains(entry.first); });
  used_ = 0;
  for (auto& [inode, target] : nodes_) {
    target.nameless = false;  // a removal that did not survive gives the name back
    used_ += target.content.size();
  }
}

std::uint64_t Disk::links(Inode inode) const {
  std::uint64_t count = 0;
  for (const auto& [folder, target] : nodes_) {
    for (const auto& [name, named] : target.names) count += named == inode ? 1 : 0;
  }
  return count;
}

}  // namespace outlast::sim
