#include "checkpoint/manifest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "checkpoint/codec.h"
#include "checkpoint/pack.h"

namespace outlast::checkpoint {
namespace {
namespace manifest_test {

WallTime at(std::int64_t nanoseconds) {
  return WallTime(std::chrono::nanoseconds(nanoseconds));
}

StoredChunk chunk_named(std::string_view name) {
  return {.name = sha256(as_bytes(name)), .stored_bytes = 10, .raw_bytes = 10};
}

// One of everything.
Manifest example() {
  Manifest manifest = {.salt = "7hx",
                       .rank = 3,
                       .origin = "machine/disk",
                       .packs = {sha256(as_bytes("p0")), sha256(as_bytes("p1"))}};
  manifest.chunks = {{.pack = 1, .chunk = chunk_named("c0")},
                     {.pack = 0, .chunk = chunk_named("c1")},
                     {.pack = 0, .chunk = chunk_named("c2")}};
  manifest.chunks[0].chunk.crc32c = 0xffffffff;
  manifest.chunks[1].chunk.codec = CodecKind::kPlanes4;
  manifest.chunks[1].chunk.raw_bytes = 20;
  manifest.chunks[1].chunk.offset = 1234;
  manifest.chunks[2].chunk.codec = CodecKind::kZero;
  manifest.chunks[2].chunk.stored_bytes = 0;
  manifest.items = {
      {.kind = ItemKind::kFolder, .path = "a", .mode = 0755, .modified = at(-1)},
      {.kind = ItemKind::kFile, .path = "a/empty", .mode = 04644},
      {.kind = ItemKind::kFile,
       .path = "a/file",
       .mode = 0644,
       .modified = at(1'700'000'000'000'000'001),
       .size = 40,
       .chunks = {0, 1, 2},
       .identity =
           FileIdentity{.inode = 18446744073709551615U, .modified = at(5), .changed = at(6)}},
      {.kind = ItemKind::kSymlink, .path = "b", .target = "../x\xff/y"},
      {.kind = ItemKind::kHardlink, .path = "n\xe9", .target = "a/file"},
      {.kind = ItemKind::kRegion, .path = "optimizer", .size = 10, .chunks = {0}},
  };
  return manifest;
}

Result<Manifest> decoded(const Json& json) {
  return decode_manifest(canonical_json(json));
}

// The sentence about a manifest that was changed so.
std::string refusal(const std::function<void(Manifest&)>& change) {
  Manifest manifest = example();
  change(manifest);
  const auto back = decode_manifest(encode_manifest(manifest));
  if (back) return "accepted";
  EXPECT_EQ(back.error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(check_manifest(manifest));
  return back.error().to_string();
}

TEST(Manifest, WhatWasEncodedIsDecoded) {
  for (const Manifest& manifest : {example(), Manifest()}) {
    const auto back = decode_manifest(encode_manifest(manifest));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, manifest);
  }
}

TEST(Manifest, HasTheTextThatTheFormatSays) {
  Manifest manifest = {.salt = "s", .packs = {sha256(as_bytes("p"))}};
  manifest.chunks = {{.pack = 0, .chunk = chunk_named("c")}};
  manifest.items = {{.kind = ItemKind::kFile,
                     .path = "f",
                     .mode = 0644,
                     .modified = at(7),
                     .size = 10,
                     .chunks = {0},
                     .identity = FileIdentity{.inode = 1, .modified = at(2), .changed = at(3)}},
                    {.kind = ItemKind::kSymlink, .path = "g\xff", .target = "f"}};
  EXPECT_EQ(
      encode_manifest(manifest),
      R"({"chunks":[[0,0,10,10,0,"2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6",0]],)"
      R"("format":1,"items":[{"chunks":[0],"identity":[1,2,3],"kind":"file","mode":420,"modified":7,)"
      R"("path":"f","size":10},{"kind":"symlink","path64":"Z/8=","target":"f"}],"origin":"",)"
      R"("packs":["148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940"],"rank":0,"salt":"s"})");
}

TEST(Manifest, EverySingleChangedByteMakesItAnotherOrNone) {
  std::string text = encode_manifest(example());
  const Manifest original = example();
  for (char& c : text) {
    const char before = c;
    for (const int flip :
         {1, 0x20}) {  // another digit or letter; upper case, and no quote or brace
      c = static_cast<char>(before ^ flip);
      if (const auto back = decode_manifest(text)) {
        ASSERT_NE(*back, original);
        ASSERT_EQ(encode_manifest(*back), text);
      }
    }
    c = before;
  }
  for (std::size_t size = 0; size < text.size(); ++size) {
    ASSERT_FALSE(decode_manifest(std::string_view(text).substr(0, size)));
  }
}

TEST(Manifest, OnlyTheCanonicalTextIsRead) {
  const std::string text = encode_manifest(example());
  EXPECT_FALSE(decode_manifest(text + "\n"));
  EXPECT_FALSE(decode_manifest(" " + text));
  EXPECT_FALSE(decode_manifest(pretty_json(*parse_json(text))));
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json json = *parse_json(text);
    change(json);
    return decoded(json).has_value();
  };
  EXPECT_TRUE(with([](Json&) {}));
  EXPECT_FALSE(with([](Json& json) { json["more"] = 1; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["more"] = 1; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["target"] = "x"; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["identity"] = {1, 2, 3}; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["path64"] = "YQ=="; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][1].erase("mode"); }));
  EXPECT_FALSE(with([](Json& json) { json["items"][1].erase("chunks"); }));
  EXPECT_FALSE(with([](Json& json) { json["items"][3].erase("target64"); }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["mode"] = -1; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["mode"] = 493.0; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0]["kind"] = "socket"; }));
  EXPECT_FALSE(with([](Json& json) { json["items"][0] = 1; }));
  EXPECT_FALSE(with([](Json& json) { json["items"] = 1; }));
  EXPECT_FALSE(with([](Json& json) { json["packs"] = Json::object(); }));
  EXPECT_FALSE(with([](Json& json) { json["chunks"][0].push_back(0); }));
  EXPECT_FALSE(with([](Json& json) { json["chunks"][0][4] = 6; }));
  EXPECT_FALSE(with([](Json& json) { json["chunks"][0][2] = 4294967306; }));
  EXPECT_FALSE(with([](Json& json) { json["chunks"][0][5] = "00"; }));
  EXPECT_FALSE(with([](Json& json) { json.erase("rank"); }));
  EXPECT_FALSE(with([](Json& json) { json.erase("origin"); }));
  EXPECT_FALSE(with([](Json& json) { json["format"] = 0; }));
}

TEST(Manifest, OddTextsAreRefused) {
  for (const char* text : {"", "null", "[]", "{}", "1", R"({"format":1})", R"({"format":"1"})",
                           R"({"format":-1})", "[[[[[[[[1]]]]]]]]"}) {
    const auto back = decode_manifest(text);
    ASSERT_FALSE(back) << text;
    EXPECT_EQ(back.error().code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(Manifest, ANewerFormatIsSaidToBeOne) {
  const auto back = decode_manifest(R"({"format":2,"new":"things"})");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      back.error().to_string(),
      "the manifest has format 2, and this outlast knows formats up to 1: use a newer outlast");
}

TEST(Manifest, PathsThatLeadElsewhereAreRefused) {
  for (const char* good : {"a", "a/b", "...", "a..b/.c", "-", "a b", "\xff"}) {
    EXPECT_TRUE(is_safe_path(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("/"), std::string("/a"), std::string("a/"), std::string("a//b"),
        std::string("."), std::string(".."), std::string("../a"), std::string("a/.."),
        std::string("a/./b"), std::string("a\0b", 3), std::string(4096, 'a')}) {
    EXPECT_FALSE(is_safe_path(bad)) << bad;
  }
  EXPECT_EQ(refusal([](Manifest& manifest) { manifest.items[0].path = "../a"; }),
            R"(not a sound manifest: the path "../a" would lead elsewhere)");
  for (const std::size_t parent : {1U, 3U, 4U, 5U}) {  // a file, a symlink, a hard link, a region
    EXPECT_NE(
        refusal([&](Manifest& manifest) {
          Item inside = {.kind = ItemKind::kFolder, .path = manifest.items[parent].path + "/x"};
          manifest.items.insert(manifest.items.begin() + static_cast<int>(parent) + 1, inside);
        }).find("would be in"),
        std::string::npos);
  }
  // Also when other names come between the two.
  EXPECT_EQ(refusal([](Manifest& manifest) {
              manifest.items.insert(manifest.items.begin() + 4,
                                    {{.kind = ItemKind::kFolder, .path = "b-"},
                                     {.kind = ItemKind::kFolder, .path = "b/c"}});
            }),
            R"(not a sound manifest: "b/c" would be in "b", which is a symlink)");
}

TEST(Manifest, NothingIsThereTwiceOrOutOfOrder) {
  EXPECT_NE(refusal([](Manifest& m) { std::swap(m.items[0], m.items[1]); }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[3].path = "a/file"; }), "accepted");
  EXPECT_EQ(refusal([](Manifest& m) { m.packs[1] = m.packs[0]; }),
            "not a sound manifest: a pack is listed twice");
  EXPECT_EQ(refusal([](Manifest& m) { m.chunks[1].chunk.name = m.chunks[0].chunk.name; }),
            "not a sound manifest: a chunk is listed twice");
}

TEST(Manifest, NothingIsThereForNothing) {
  EXPECT_EQ(refusal([](Manifest& m) { m.packs.push_back(sha256({})); }),
            "not a sound manifest: a pack is listed and has no chunk");
  EXPECT_EQ(refusal([](Manifest& m) { m.chunks.push_back({.chunk = chunk_named("unused")}); }),
            "not a sound manifest: a chunk is in no file");
}

TEST(Manifest, ReferencesAndSumsAreRight) {
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[0].pack = 2; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[2].chunks[0] = 3; }), "accepted");
  EXPECT_EQ(refusal([](Manifest& m) { m.items[2].size = 41; }),
            R"(not a sound manifest: "a/file" has 41 bytes, and its chunks have 40)");
  EXPECT_NE(refusal([](Manifest& m) { m.items[4].target = "a/other"; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[4].target = "a"; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[4].target = "n\xe9"; }), "accepted");
}

TEST(Manifest, NumbersCanBeTrue) {
  EXPECT_NE(refusal([](Manifest& m) { m.items[0].mode = 010000; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[0].chunk.raw_bytes = 11; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[1].chunk.raw_bytes = 10; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[2].chunk.offset = 1; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[2].pack = 1; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.chunks[0].chunk.offset = kPackBytesMax - 9; }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) {
              m.chunks[0].chunk.raw_bytes = m.chunks[0].chunk.stored_bytes = kChunkBytesMax + 1;
            }),
            "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[3].target = std::string("a\0b", 3); }), "accepted");
  EXPECT_NE(refusal([](Manifest& m) { m.items[3].target = ""; }), "accepted");
}

}  // namespace manifest_test
}  // namespace
}  // namespace outlast::checkpoint
