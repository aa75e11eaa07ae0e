#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/file_system.h"

namespace outlast::sim {

// A disk with the write-back cache in front of it, as pessimistic as POSIX allows. Everybody sees
// the cache; crash() throws away what was not synced:
//  - each write and truncation of a file since its last sync survives wholly, in part, or not at
//  all,
//    independently of the others;
//  - a name made, moved or removed survives only if its folder was synced, or by luck; operations
//  on
//    one folder survive in order, operations on different folders in any order; a rename is atomic;
//  - syncing a file does not make its name durable;
//  - times and permissions that were set are lost unless the file or the folder is synced
//  afterwards.
// The time of the last change moves in steps, as Linux's does. Pure: no time of its own, no
// scheduling, no faults but these. Paths are absolute and normalised ("/a/b"); symlinks are
// followed where Linux does, except by rename, link and those that remove. Confined to the
// simulation.
class Disk {
 public:
  using Inode = std::uint64_t;

  explicit Disk(std::uint64_t capacity_bytes);

  // Does not follow a symlink at the end.
  Result<Inode> find(const std::string& path) const;
  // Opens a file; the mode decides what must exist and what is made.
  Result<Inode> open(const std::string& path, sys::OpenMode mode, WallTime now);
  Result<std::size_t> read(Inode file, std::span<std::byte> buffer, std::uint64_t offset) const;
  // kNoSpace writes as much as fits first, as a real disk does.
  Result<void> write(Inode file, BytesView bytes, std::uint64_t offset, WallTime now);
  Result<void> truncate(Inode file, std::uint64_t size, WallTime now);
  std::uint64_t size(Inode file) const;
  sys::FileInfo info(Inode file) const;
  void set_modified(Inode file, WallTime when, WallTime now);
  void sync(Inode file);
  // A sync that fails: luck decides what reached the disk, and the rest counts as clean, so that a
  // later sync does not write it either.
  void sync_in_vain(Inode file, Random& random);
  // The same for everything.
  void sync_all();
  void sync_all_in_vain(Random& random);

  Result<sys::FileInfo> stat(const std::string& path) const;
  Result<std::vector<sys::DirectoryEntry>> list(const std::string& path) const;
  Result<void> make_dir(const std::string& path, WallTime now);
  Result<void> make_symlink(const std::string& target, const std::string& path, WallTime now);
  Result<std::string> read_symlink(const std::string& path) const;
  Result<void> rename(const std::string& from, const std::string& to, WallTime now);
  Result<void> link(const std::string& from, const std::string& to, WallTime now);
  Result<void> remove_file(const std::string& path, WallTime now);
  Result<void> remove_dir(const std::string& path, WallTime now);
  Result<void> set_mode(const std::string& path, std::uint32_t mode, WallTime now);
  Result<void> set_modified(const std::string& path, WallTime when, WallTime now);
  Result<void> sync_dir(const std::string& path);

  sys::DiskSpace space() const;
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }

  // The power fails.
  void crash(Random& random);

 private:
  using Names = std::map<std::string, Inode>;

  struct Change {  // of a file's content
    enum class Kind { kWrite, kTruncate } kind = Kind::kWrite;
    std::uint64_t offset = 0;  // or the new size
    Bytes bytes;
  };
  struct Attributes {
    WallTime modified = {};
    WallTime changed = {};
    std::uint32_t mode = 0;
  };
  struct Node {
    sys::FileType type = sys::FileType::kFile;
    Attributes attributes = {};
    Attributes durable_attributes = {};
    Bytes content = {};  // what everybody sees; of a symlink where it leads to
    Bytes durable = {};  // what is on the platter
    std::vector<Change> unsynced = {};
    std::uint64_t links = 0;  // names that lead to it
    bool nameless = false;    // removed: lives on while open, but its space counts as free
    Names names = {};         // of a folder
    Names durable_names = {};
  };
  // One atomic change of names, perhaps in two folders. Inode 0: the name goes.
  struct NameChange {
    struct Part {
      Inode folder;
      std::string name;
      Inode target;
    };
    std::vector<Part> parts;
    bool touches(const std::set<Inode>& folders) const;
  };
  struct Place {  // a name in a folder, whether or not it exists
    Inode folder = 0;
    std::string name;
  };

  static void apply(const Change& change, Bytes& content);
  void apply_durably(const NameChange& change);
  void change_names(NameChange change, WallTime now);
  // A new thing with this name, whose folder exists.
  Inode make(const Place& place, sys::FileType type, WallTime now);
  static void touch(Node& target, WallTime now);  // something of it changed
  static void touch_content(Node& target, WallTime now);
  void release_if_nameless(Inode inode);
  // Makes those unsynced name changes durable that are `chosen`, and whatever must come before
  // them.
  void commit_names(std::vector<bool> chosen);
  void drop_unreachable();
  enum class AtEnd { kStay, kFollow };  // at a symlink
  Result<Place> place_of(const std::string& path, AtEnd at_end) const;
  Result<Inode> find(const std::string& path, AtEnd at_end) const;
  Node& node(Inode inode) { return nodes_.at(inode); }
  const Node& node(Inode inode) const { return nodes_.at(inode); }
  Inode lookup(const Place& place) const;

  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  Inode next_inode_ = 2;
  std::map<Inode, Node> nodes_;
  std::vector<NameChange> unsynced_names_;  // in order, over all folders
};

}  // namespace outlast::sim
