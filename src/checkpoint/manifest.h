#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/pack.h"

// What a checkpoint is made of. Values only.
namespace outlast::checkpoint {

// A chunk and the pack that it is in; a chunk of zeros is in none.
struct PlacedChunk {
  std::uint32_t pack = 0;  // in Manifest::packs; 0 for kZero, as everything that says where
  StoredChunk chunk = {};

  friend bool operator==(const PlacedChunk&, const PlacedChunk&) = default;
};

// By what a file is known to be the same as before without reading it. Only where it was found.
struct FileIdentity {
  std::uint64_t inode = 0;
  WallTime modified = {};
  WallTime changed = {};

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

enum class ItemKind {
  kFile,
  kFolder,
  kSymlink,
  kHardlink,  // a second name of a file of this manifest
  kRegion,    // of memory: named bytes that never were a file
};
std::string_view to_string(ItemKind kind);

struct Item {
  ItemKind kind = ItemKind::kFile;
  // Relative, '/' between segments, none of which is empty, "." or "..". Bytes, not necessarily
  // UTF-8; no NUL. For a region its name, under the same rules.
  std::string path = {};
  std::uint32_t mode = 0;                     // kFile, kFolder: permission bits
  WallTime modified = {};                     // kFile, kFolder
  std::uint64_t size = 0;                     // kFile, kRegion: the sum of its chunks
  std::vector<std::uint32_t> chunks = {};     // kFile, kRegion: in Manifest::chunks, in order
  std::string target = {};                    // kSymlink: as it is; kHardlink: that file's path
  std::optional<FileIdentity> identity = {};  // kFile

  friend bool operator==(const Item&, const Item&) = default;
};

struct Manifest {
  // Random; makes it unlike all others, so that a name that a prune has condemned is not used
  // again.
  std::string salt = {};
  std::uint32_t rank = 0;
  // Where the identities mean something: the machine and the file system. "" if nowhere.
  std::string origin = {};
  std::vector<Sha256Digest> packs = {};
  std::vector<PlacedChunk> chunks = {};  // each once
  std::vector<Item> items = {};  // in the order of their paths; a folder before what is in it

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

inline constexpr std::size_t kManifestBytesMax = 256U << 20U;  // a reader refuses larger ones

// Everything that can be checked without the packs: sums, references, order, that nothing is there
// twice or for nothing, and paths that would lead out of a folder or through anything of this
// manifest that is none. kCorrupt with what is wrong.
Result<void> check_manifest(const Manifest& manifest);

// The canonical text; its SHA-256 is its name. Equal manifests have equal texts.
std::string encode_manifest(const Manifest& manifest);
// Of exactly the canonical text, and check_manifest(). kCorrupt with what is wrong;
// kInvalidArgument, naming both versions, if it is of a newer format.
Result<Manifest> decode_manifest(std::string_view text);

// Whether `path` is one that an Item may have; at most 4,095 bytes.
bool is_safe_path(std::string_view path);

}  // namespace outlast::checkpoint
