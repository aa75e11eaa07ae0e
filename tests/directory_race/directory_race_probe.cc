// One of several processes that race for the objects of a folder.
//
//   directory_race_probe FOLDER ROUNDS   for each round: tries to make round/<n>, adds one to the
//                                        counter, and overwrites and removes an object in a folder
//                                        that others remove; prints how many rounds it won
//   directory_race_probe FOLDER forever  overwrites the counter's neighbours until it is killed
#include <cstdio>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/directory_store.h"
#include "store/object_store.h"
#include "sys/posix_world.h"

namespace {

using outlast::Error;
using outlast::ErrorCode;
using outlast::Result;
using outlast::store::ObjectStore;
using outlast::store::WriteIf;

Result<std::string> put(ObjectStore& store, const std::string& key, const std::string& text,
                        const WriteIf& condition) {
  return store.put(key, outlast::as_bytes(text), condition, {});
}

Result<void> add_one(ObjectStore& store) {
  while (true) {
    std::string text;
    OUTLAST_TRY_ASSIGN(const auto info,
                       store.get("counter", {},
                                 [&](const auto&, outlast::BytesView piece) -> Result<void> {
                                   text += outlast::as_text(piece);
                                   return {};
                                 },
                                 {}));
    const auto version = put(store, "counter", std::to_string(std::stoi(text) + 1),
                             WriteIf::version_is(info.version));
    if (version) return {};
    if (version.error().code() != ErrorCode::kConditionFailed) return version.error();
  }
}

// "x" is an object, or the folder of one: whichever comes first.
Result<void> quarrel(ObjectStore& store, const std::string& key) {
  const auto version = put(store, key, "x", WriteIf::always());
  if (!version && version.error().code() != ErrorCode::kInvalidArgument &&
      version.error().code() != ErrorCode::kUnavailable) {
    return version.error();
  }
  return store.remove(key, {});
}

Result<int> race(ObjectStore& store, int rounds) {
  int won = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto made = put(store, "round/" + std::to_string(round), "mine", WriteIf::absent());
    if (!made && made.error().code() != ErrorCode::kAlreadyExists) return made.error();
    if (made) ++won;
    OUTLAST_TRY(add_one(store));
    OUTLAST_TRY(quarrel(store, round % 2 == 0 ? "x" : "x/y/z"));
  }
  return won;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  outlast::sys::RealWorld real;
  outlast::store::DirectoryStore store({.files = real.world().files,
                                        .clock = real.world().clock,
                                        .random = real.world().random.fork()},
                                       argv[1]);
  if (argv[2] == std::string("forever")) {
    for (int i = 0;; i = (i + 1) % 64) {
      if (!put(store, "noise/" + std::to_string(i), "x", WriteIf::always())) return 1;
    }
  }
  const Result<int> won = race(store, std::stoi(argv[2]));
  if (!won) std::fprintf(stderr, "%s\n", won.error().to_string().c_str());
  if (won) std::printf("%d\n", *won);
  return won ? 0 : 1;
}
