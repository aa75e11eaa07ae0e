#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/encoding.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"
#include "trainers/weights/testing/fuzz_weights.h"
#include "trainers/weights/testing/made_weights.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers::testing {
namespace {
namespace hostile_weights_test {

std::string small_pickle() {
  return "\x80\x02}(" + text_op("w") + tensor_op({}) + text_op("epoch") + "K\x03" + text_op("l") +
         "](K\x01G\xbf\xe0" + std::string(6, '\0') + "eu.";
}

Bytes small_safetensors() {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"b":"c"}})";
  return bytes_of(eight_bytes(header.size()) + header + "12345678");
}

// Every beginning of a file, and every file with one byte changed in a few ways, is read or
// refused.
void spoil(const Bytes& sound) {
  ASSERT_TRUE(parse_weights(sound)) << parse_weights(sound).error().to_string();
  for (std::size_t size = 0; size < sound.size(); ++size) {
    const Bytes cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_weights(cut)) << "of " << sound.size() << " bytes the first " << size;
    fuzz_weights(cut);
  }
  Bytes changed = sound;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x02U, 0x10U, 0x20U, 0x80U, 0xffU}) {
      changed[at] = sound[at] ^ static_cast<std::byte>(flip);
      fuzz_weights(changed);
    }
    changed[at] = sound[at];
  }
}

TEST(HostileWeights, SpoiledZipFilesAreReadOrRefused) {
  spoil(pth_of(small_pickle()));
}

// Behind the checksum, which a hostile file gets right.
TEST(HostileWeights, SpoiledPicklesAreReadOrRefused) {
  const std::string sound = small_pickle();
  std::string changed = sound;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    fuzz_weights(pth_of(sound.substr(0, at)));
    for (unsigned flip = 1; flip < 256; flip += 6) {
      changed[at] = static_cast<char>(static_cast<unsigned char>(sound[at]) ^ flip);
      fuzz_weights(pth_of(changed));
    }
    changed[at] = sound[at];
  }
}

TEST(HostileWeights, SpoiledOldFilesAreReadOrRefused) {
  spoil(legacy_pth_of(small_pickle()));
}

TEST(HostileWeights, SpoiledSafetensorsAreReadOrRefused) {
  spoil(small_safetensors());
}

// Every input that was ever interesting, given to what looks for broken promises.
TEST(HostileWeights, TheCorpusKeepsThePromises) {
  sys::testing::real_world().run([&](sys::World& world, const std::string&) {
    const std::string folder = OUTLAST_SOURCE_DIR "/tests/corpus/weights";
    const auto entries = world.files.list(folder);
    ASSERT_TRUE(entries) << entries.error().to_string();
    ASSERT_FALSE(entries->empty());
    for (const auto& entry : *entries) {
      const auto bytes = sys::read_file(world.files, folder + "/" + entry.name, 1U << 20U);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      fuzz_weights(as_bytes(*bytes));
    }
  });
}

}  // namespace hostile_weights_test
}  // namespace
}  // namespace outlast::trainers::testing
