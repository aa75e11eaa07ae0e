#include "checkpoint/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"
#include "checkpoint/codec.h"
#include "checkpoint/pack.h"

namespace outlast::checkpoint {
namespace {

constexpr std::uint64_t kManifestFormat = 1;
constexpr std::array<std::string_view, 5> kKindNames = {"file", "folder", "symlink", "hardlink",
                                                        "region"};

Error bad_manifest(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("not a manifest: {}", what)};
}

std::int64_t nanoseconds(WallTime time) {
  return time.time_since_epoch().count();
}

// Bytes that are not UTF-8 have a key of their own: "path64" instead of "path".
void put_text(Json& object, const std::string& key, const std::string& text) {
  if (is_utf8(text)) {
    object[key] = text;
  } else {
    object[key + "64"] = base64_encode(as_bytes(text));
  }
}

Result<std::string> take_text(const Json& object, const std::string& key) {
  if (object.is_object() && object.contains(key + "64")) {
    OUTLAST_TRY_ASSIGN(const std::string encoded, json_string(object, key + "64"));
    OUTLAST_TRY_ASSIGN(const Bytes bytes, base64_decode(encoded));
    return std::string(as_text(bytes));
  }
  return json_string(object, key);
}

Json encode_chunk(const PlacedChunk& placed) {
  const StoredChunk& chunk = placed.chunk;
  return Json::array({placed.pack, chunk.offset, chunk.stored_bytes, chunk.raw_bytes,
                      static_cast<unsigned>(chunk.codec), chunk.name.hex(), chunk.crc32c});
}

Json encode_item(const Item& item) {
  Json json = {{"kind", to_string(item.kind)}};
  put_text(json, "path", item.path);
  if (item.kind == ItemKind::kFile || item.kind == ItemKind::kFolder) {
    json["mode"] = item.mode;
    json["modified"] = nanoseconds(item.modified);
  }
  if (item.kind == ItemKind::kFile || item.kind == ItemKind::kRegion) {
    json["size"] = item.size;
    json["chunks"] = item.chunks;
  }
  if (item.kind == ItemKind::kSymlink || item.kind == ItemKind::kHardlink) {
    put_text(json, "target", item.target);
  }
  if (item.identity) {
    json["identity"] = {item.identity->inode, nanoseconds(item.identity->modified),
                        nanoseconds(item.identity->changed)};
  }
  return json;
}

template <std::unsigned_integral Number>
bool take(const Json& json, Number& number) {
  if (!json.is_number_unsigned() ||
      json.get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
    return false;
  }
  number = json.get<Number>();
  return true;
}

bool take(const Json& json, WallTime& time) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return false;
  }
  time = WallTime(std::chrono::nanoseconds(json.get<std::int64_t>()));
  return true;
}

bool take(const Json& json, Sha256Digest& digest) {
  if (!json.is_string()) return false;
  const auto parsed = parse_sha256(json.get_ref<const std::string&>());
  if (parsed) digest = *parsed;
  return parsed.has_value();
}

bool take(const Json& json, CodecKind& codec) {
  std::uint8_t number = 0;
  if (!take(json, number) || number > static_cast<std::uint8_t>(CodecKind::kPlanes8)) return false;
  codec = static_cast<CodecKind>(number);
  return true;
}

bool take(const Json& json, PlacedChunk& placed) {
  StoredChunk& chunk = placed.chunk;
  return json.is_array() && json.size() == 7 && take(json[0], placed.pack) &&
         take(json[1], chunk.offset) && take(json[2], chunk.stored_bytes) &&
         take(json[3], chunk.raw_bytes) && take(json[4], chunk.codec) &&
         take(json[5], chunk.name) && take(json[6], chunk.crc32c);
}

bool take(const Json& json, FileIdentity& identity) {
  return json.is_array() && json.size() == 3 && take(json[0], identity.inode) &&
         take(json[1], identity.modified) && take(json[2], identity.changed);
}

template <typename Value>
bool take(const Json& json, std::vector<Value>& values) {
  if (!json.is_array()) return false;
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!take(json[i], values[i])) return false;
  }
  return true;
}

// The member `key`, if it is there; that it must or must not be is for the canonical form to say.
template <typename Value>
Result<void> take_member(const Json& object, std::string_view key, Value& value) {
  const auto found = object.find(key);
  if (found == object.end() || take(*found, value)) return {};
  return bad_manifest(fmt::format("'{}' is not what it should be", key));
}

Result<Item> decode_item(const Json& json) {
  OUTLAST_TRY_ASSIGN(const std::string kind, json_string(json, "kind"));
  const auto* const name = std::ranges::find(kKindNames, kind);
  if (name == kKindNames.end()) return bad_manifest("an item is of no kind");
  Item item = {.kind = static_cast<ItemKind>(name - kKindNames.begin())};
  OUTLAST_TRY_ASSIGN(item.path, take_text(json, "path"));
  OUTLAST_TRY(take_member(json, "mode", item.mode));
  OUTLAST_TRY(take_member(json, "modified", item.modified));
  OUTLAST_TRY(take_member(json, "size", item.size));
  OUTLAST_TRY(take_member(json, "chunks", item.chunks));
  if (item.kind == ItemKind::kSymlink || item.kind == ItemKind::kHardlink) {
    OUTLAST_TRY_ASSIGN(item.target, take_text(json, "target"));
  }
  if (json.contains("identity")) {
    OUTLAST_TRY(take_member(json, "identity", item.identity.emplace()));
  }
  return item;
}

Result<void> check_format(const Json& json) {
  OUTLAST_TRY_ASSIGN(const std::uint64_t format, json_uint(json, "format"));
  if (format > kManifestFormat) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the manifest has format {}, and this outlast knows formats up to {}: "
                             "use a newer outlast",
                             format, kManifestFormat));
  }
  if (format != kManifestFormat) return bad_manifest(fmt::format("there is no format {}", format));
  return {};
}

}  // namespace

std::string_view to_string(ItemKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

std::string encode_manifest(const Manifest& manifest) {
  Json packs = Json::array();
  for (const Sha256Digest& pack : manifest.packs) packs.push_back(pack.hex());
  Json chunks = Json::array();
  for (const PlacedChunk& chunk : manifest.chunks) chunks.push_back(encode_chunk(chunk));
  Json items = Json::array();
  for (const Item& item : manifest.items) items.push_back(encode_item(item));
  Json json = {{"format", kManifestFormat},
               {"rank", manifest.rank},
               {"packs", std::move(packs)},
               {"chunks", std::move(chunks)},
               {"items", std::move(items)}};
  put_text(json, "origin", manifest.origin);
  put_text(json, "salt", manifest.salt);
  return canonical_json(json);
}

Result<Manifest> decode_manifest(std::string_view text) {
  const Result<Json> json = parse_json(text, {.bytes_max = kManifestBytesMax, .depth_max = 4});
  if (!json) return bad_manifest(json.error().to_string());
  OUTLAST_TRY(check_format(*json));
  Manifest manifest;
  OUTLAST_TRY(take_member(*json, "rank", manifest.rank));
  OUTLAST_TRY_ASSIGN(manifest.origin, take_text(*json, "origin"));
  OUTLAST_TRY_ASSIGN(manifest.salt, take_text(*json, "salt"));
  OUTLAST_TRY(take_member(*json, "packs", manifest.packs));
  OUTLAST_TRY(take_member(*json, "chunks", manifest.chunks));
  const auto items = json->find("items");
  if (items == json->end() || !items->is_array()) return bad_manifest("'items' must be a list");
  for (const Json& item : *items) {
    OUTLAST_TRY_ASSIGN(Item decoded, decode_item(item));
    manifest.items.push_back(std::move(decoded));
  }
  OUTLAST_TRY(check_manifest(manifest));
  // Says of everything that was not looked at above, such as an unknown key, that it is too much.
  if (encode_manifest(manifest) != text) return bad_manifest("it is not in the canonical form");
  return manifest;
}

}  // namespace outlast::checkpoint
