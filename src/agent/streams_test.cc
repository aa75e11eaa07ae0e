#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/stream_reader.h"
#include "agent/stream_writer.h"
#include "base/result.h"
#include "base/time.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;
using store::testing::in_simulation;

std::string read_all(store::ObjectStore& store) {
  StreamReader reader(store, "attempts/3/output/");
  std::string text;
  while (true) {
    const Result<std::string> piece = reader.next({});
    EXPECT_TRUE(piece) << piece.error().to_string();
    if (!piece || piece->empty()) return text;
    text += *piece;
  }
}

TEST(Streams, WhatIsAppendedIsReadInOrderWhateverTheStoreDoes) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    in_simulation(seed, [&](sys::World& world) {
      store::MemoryBucket bucket;
      store::MemoryStore server(bucket, world.clock);
      store::LateWrites late(server);
      store::FaultyStore faulty(
          server, world.clock,
          store::random_faults(world.random.fork(), {.refused = 0.2,
                                                     .answer_lost = 0.2,
                                                     .late = 0.2,
                                                     .late_max = seconds(5),
                                                     .delay_max = seconds(1)}),
          &late);
      StreamWriter writer(faulty, "attempts/3/output/");
      std::string wanted;
      for (int round = 0; round < 20; ++round) {
        const std::string piece(world.random.below(StreamWriter::kSegmentMax),
                                static_cast<char>('a' + round));
        wanted += piece;
        writer.append(piece);
        (void)writer.flush({});
      }
      while (!writer.flush({})) {
      }
      EXPECT_EQ(writer.held(), 0U);
      late.settle(kNever);
      EXPECT_TRUE(read_all(server) == wanted) << "seed " << seed;
    });
  }
}

TEST(Streams, AReaderGoesOnWhereItWas) {
  in_simulation(1, [](sys::World& world) {
    store::MemoryBucket bucket;
    store::MemoryStore store(bucket, world.clock);
    StreamWriter writer(store, "s/");
    StreamReader reader(store, "s/");
    EXPECT_EQ(reader.next({}).value(), "");
    ASSERT_TRUE(writer.flush({}));
    EXPECT_EQ(reader.next({}).value(), "") << "nothing was put for nothing";
    writer.append("one ");
    writer.append("two");
    ASSERT_TRUE(writer.flush({}));
    EXPECT_EQ(reader.next({}).value(), "one two");
    EXPECT_EQ(reader.next({}).value(), "");
    writer.append("three");
    ASSERT_TRUE(writer.flush({}));
    EXPECT_EQ(reader.next({}).value(), "three");
  });
}

TEST(Streams, AStoreThatIsAwayCostsNoMoreThanSoMuchMemory) {
  in_simulation(1, [](sys::World& world) {
    store::MemoryBucket bucket;
    store::MemoryStore store(bucket, world.clock);
    StreamWriter writer(store, "attempts/3/output/");
    const std::string mebibyte(std::size_t{1} << 20U, 'x');
    for (int i = 0; i < 10; ++i) writer.append(mebibyte);
    writer.append("lost, too: there is a gap before it");
    EXPECT_EQ(writer.held(), StreamWriter::kHeldMax);
    ASSERT_TRUE(writer.flush({}));
    writer.append("after it");
    ASSERT_TRUE(writer.flush({}));
    const std::string text = read_all(store);
    EXPECT_EQ(text.substr(StreamWriter::kHeldMax),
              "\n[outlast: 2.0 MiB are left out here, because the store was away]\nafter it");
  });
}

}  // namespace
}  // namespace outlast::agent
