// Makes a root with one of everything that the checkpoint format has, through the code that ships,
// for a reader that was written from the document alone:
//
//   compose_root ROOT
//
// Prints what must come back, a JSON line for each checkpoint that can be restored.
#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/codec.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "job/log_entry.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "sys/posix_world.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kChunk = 20'000;

WallTime at(std::int64_t nanoseconds) {
  return WallTime(std::chrono::nanoseconds(nanoseconds));
}

Bytes noise(std::size_t size, Random& random) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// As numbers of this width are: the last byte of each is like the others, the rest is noise.
Bytes numbers(std::size_t size, std::size_t width, Random& random) {
  Bytes bytes = noise(size, random);
  for (std::size_t i = width - 1; i < size; i += width) {
    bytes[i] = static_cast<std::byte>(0x3c + random.below(3));
  }
  return bytes;
}

Bytes words(std::size_t size, Random& random) {
  std::string text;
  while (text.size() < size) text += fmt::format("loss {} at step\n", random.below(1000));
  const BytesView bytes = as_bytes(text);
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

struct Source {
  Item item = {};
  Bytes bytes = {};
  CodecKind codec = CodecKind::kNone;
};

// Saves things into packs and a manifest.
class Saver {
 public:
  Saver(store::ObjectStore& store, Random& random) : store_(store), random_(random) {}

  Result<Sha256Digest> save(std::uint32_t rank, std::vector<Source> sources) {
    Manifest manifest = {.salt = make_token(random_, 8), .rank = rank, .origin = "here"};
    PackSalt salt = {};
    for (std::byte& byte : salt) byte = static_cast<std::byte>(random_.next());
    for (Source& source : sources) {
      PackBuilder pack(salt);  // one for each, so that there are several
      const auto number = static_cast<std::uint32_t>(manifest.packs.size());
      for (std::size_t begin = 0; begin < source.bytes.size(); begin += kChunk) {
        const BytesView rest = BytesView(source.bytes).subspan(begin);
        add(rest.first(std::min(kChunk, rest.size())), {source.codec, number}, pack, source.item,
            manifest);
      }
      if (!pack.empty()) {
        const PackBuilder::Pack finished = pack.finish();
        OUTLAST_TRY(
            store_.put(pack_key(finished.name), finished.bytes, store::WriteIf::absent(), {}));
        manifest.packs.push_back(finished.name);
      }
      manifest.items.push_back(std::move(source.item));
    }
    OUTLAST_TRY(check_manifest(manifest));
    const std::string text = encode_manifest(manifest);
    const Sha256Digest name = sha256(as_bytes(text));
    OUTLAST_TRY(store_.put(manifest_key(name), as_bytes(text), store::WriteIf::absent(), {}));
    return name;
  }

 private:
  struct How {
    CodecKind codec;
    std::uint32_t pack;
  };

  void add(BytesView raw, const How& how, PackBuilder& pack, Item& item, Manifest& manifest) {
    const Sha256Digest name = sha256(raw);
    item.size += raw.size();
    for (std::size_t i = 0; i < manifest.chunks.size(); ++i) {
      if (manifest.chunks[i].chunk.name != name) continue;
      item.chunks.push_back(static_cast<std::uint32_t>(i));
      return;
    }
    item.chunks.push_back(static_cast<std::uint32_t>(manifest.chunks.size()));
    if (how.codec == CodecKind::kZero) {
      manifest.chunks.push_back({.chunk = {.name = name,
                                           .raw_bytes = static_cast<std::uint32_t>(raw.size()),
                                           .codec = CodecKind::kZero}});
    } else {
      manifest.chunks.push_back(
          {.pack = how.pack, .chunk = pack.add(name, raw, how.codec, codec_)});
    }
  }

  store::ObjectStore& store_;
  Random& random_;
  Codec codec_;
};

Source file(std::string path, Bytes bytes, CodecKind codec) {
  return {
      .item = {.path = std::move(path), .mode = 0640, .modified = at(1'600'000'000'123'456'789)},
      .bytes = std::move(bytes),
      .codec = codec};
}

std::vector<Source> one_of_each(Random& random) {
  std::vector<Source> sources;
  sources.push_back(
      {.item = {.kind = ItemKind::kFolder, .path = "a", .mode = 0750, .modified = at(-7)}});
  sources.push_back(file("a/empty", {}, CodecKind::kNone));
  sources.push_back({.item = {.kind = ItemKind::kHardlink, .path = "a/second", .target = "words"}});
  sources.push_back(file("bf16", numbers(50'001, 2, random), CodecKind::kPlanes2));
  sources.push_back(file("deep/er/f32", numbers(70'003, 4, random), CodecKind::kPlanes4));
  sources.push_back(file("f64", numbers(40'000, 8, random), CodecKind::kPlanes8));
  sources.push_back(file("n\xe9 \"\n\x01\x7f", noise(30'000, random), CodecKind::kNone));
  sources.push_back(
      {.item = {.kind = ItemKind::kRegion, .path = "region"}, .bytes = noise(999, random)});
  sources.push_back(
      {.item = {.kind = ItemKind::kSymlink, .path = "symlink", .target = "../\xff/x"}});
  sources.push_back(file("words", words(60'000, random), CodecKind::kZstd));
  sources.push_back(file("zeros", Bytes(65'000), CodecKind::kZero));
  sources.back().item.mode = 0444;
  sources.back().item.identity = FileIdentity{.inode = 7, .modified = at(1), .changed = at(2)};
  return sources;
}

Json expected(const std::vector<std::vector<Source>>& ranks, job::Seq seq) {
  Json items = Json::array();
  for (const std::vector<Source>& sources : ranks) {
    for (const Source& source : sources) {
      items.push_back({{"kind", to_string(source.item.kind)},
                       {"path", base64_encode(as_bytes(source.item.path))},
                       {"target", base64_encode(as_bytes(source.item.target))},
                       {"mode", source.item.mode},
                       {"modified", source.item.modified.time_since_epoch().count()},
                       {"sha256", sha256(source.bytes).hex()}});
    }
  }
  return {{"seq", seq}, {"items", std::move(items)}};
}

class Log {
 public:
  explicit Log(store::ObjectStore& store) : store_(store) {}

  Result<job::Seq> add(job::Epoch epoch, job::EntryKind kind, job::LogEntry entry = {}) {
    entry.seq = ++last_;
    entry.epoch = epoch;
    entry.floor = highest_;
    entry.kind = kind;
    entry.nonce = fmt::format("nonce{}", last_);
    entry.writer = "compose_root \"\u00e9\"";
    highest_ = std::max(highest_, epoch);
    OUTLAST_TRY(store_.put(entry_key(last_), as_bytes(job::encode_entry(entry)),
                           store::WriteIf::absent(), {}));
    return last_;
  }

  Result<job::Seq> add_checkpoint(job::Epoch epoch, std::vector<Sha256Digest> manifests) {
    job::LogEntry entry;
    entry.checkpoint = {.manifests = std::move(manifests), .step = 7, .metrics = {{"loss", 0.1}}};
    return add(epoch, job::EntryKind::kCheckpoint, entry);
  }

 private:
  store::ObjectStore& store_;
  job::Seq last_ = 0;
  job::Epoch highest_ = 0;
};

Result<void> compose(store::ObjectStore& store, Random& random) {
  using enum job::EntryKind;
  Saver saver(store, random);
  Log log(store);
  const std::vector<Source> everything = one_of_each(random);
  const std::vector<Source> older = {file("old", words(100, random), CodecKind::kZstd)};
  const std::vector<Source> rank1 = {
      {.item = {.kind = ItemKind::kFolder, .path = "a", .mode = 0750, .modified = at(-7)}},
      file("a/of rank 1", noise(10, random), CodecKind::kNone)};
  OUTLAST_TRY_ASSIGN(const Sha256Digest old, saver.save(0, older));
  OUTLAST_TRY_ASSIGN(const Sha256Digest first, saver.save(0, everything));
  OUTLAST_TRY_ASSIGN(const Sha256Digest second, saver.save(1, rank1));

  OUTLAST_TRY(log.add(1, kFence));
  OUTLAST_TRY(log.add_checkpoint(1, {first}));  // dropped by the prune
  OUTLAST_TRY(log.add(2, kFence));
  OUTLAST_TRY_ASSIGN(const job::Seq kept, log.add_checkpoint(2, {old}));
  OUTLAST_TRY(log.add_checkpoint(1, {first}));  // of an attempt that had lost its turn
  OUTLAST_TRY(log.add(2, kPin, {.target = kept}));
  OUTLAST_TRY(log.add(2, kPrune, {.prune = {.kept = {kept}, .pinned = {kept}}}));
  OUTLAST_TRY_ASSIGN(const job::Seq newest, log.add_checkpoint(2, {first, second}));
  OUTLAST_TRY(log.add_checkpoint(1, {old}));
  OUTLAST_TRY(log.add(2, kDone));

  std::cout << canonical_json(expected({older}, kept)) << "\n"
            << canonical_json(expected({everything, rank1}, newest)) << "\n";
  return {};
}

}  // namespace
}  // namespace outlast::checkpoint

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: compose_root ROOT\n";
    return 2;
  }
  outlast::sys::RealWorld real;
  outlast::sys::World& world = real.world();
  outlast::store::DirectoryStore store(
      {.files = world.files, .clock = world.clock, .random = world.random.fork()},
      std::string(words[1]) + "/jobs/example");
  outlast::Random random(1);
  const auto done = outlast::checkpoint::compose(store, random);
  if (!done) std::cerr << done.error().to_string() << "\n";
  return done ? 0 : 1;
}
