#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sdk/folder_lock.h"
#include "sdk/own_rank.h"
#include "sdk/snapshot_layout.h"

namespace outlast::sdk {

// A file, mapped to be read. Empty if there is none, or it is empty itself; throws SnapshotError if
// there is one that cannot be read.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Snapshots as files in a folder that all ranks share: what a trainer has without outlast.
// From the first call on, no other process can have this rank in this folder: all throw
// SnapshotError if one has it, or the folder cannot be written. Confined to its owner.
class FileSnapshots {
 public:
  FileSnapshots(std::string folder, OwnRank own);

  // On the disk when it returns, whole or not at all. Of this rank's there remain this one, the one
  // before it, and the newest up to it that all ranks have; later ones are of a training that was
  // given up. Throws SnapshotError if it cannot be written.
  void save(const SnapshotLayout& layout, std::uint64_t step,
            const std::vector<std::string>& blobs);

  struct Found {
    std::uint64_t step = 0;
    std::string path = {};
    MappedFile file = {};
  };
  // This rank's part of the newest step that all ranks have whole. What is torn, or is no snapshot,
  // is passed over with a line on stderr, and so is it said if there are snapshots, but none to
  // resume from. Throws SnapshotError if that cannot be known.
  std::optional<Found> newest();
  // Before training goes on from `step`: removes what this rank has of later steps. Before it
  // starts from the beginning: gives all another name, with ".aside" at its end, as somebody may
  // have meant to go on from it. Another rank's new file must not be taken for the other part of an
  // old one.
  void give_up_after(std::optional<std::uint64_t> step);

 private:
  struct Seen {
    std::map<std::uint64_t, std::set<std::uint32_t>> ranks_of_step = {};
    std::set<std::uint32_t> other_counts = {};  // of ranks, in jobs that had more or fewer
  };
  Seen look() const;
  bool all_have(const std::set<std::uint32_t>& ranks) const { return ranks.size() == own_.ranks; }
  std::string path_of(std::uint64_t step, std::uint32_t rank) const;
  void say_why_none(const Seen& seen) const;
  bool is_whole(std::uint64_t step, std::uint32_t rank) const;
  void remove_old(std::uint64_t newest) const;

  void take_folder();
  void remove_unfinished(bool is_locked) const;

  std::string folder_;
  OwnRank own_;
  std::optional<FolderLock> lock_;
};

}  // namespace outlast::sdk
