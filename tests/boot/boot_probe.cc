// Does to a machine what src/machine does; the scripts here run it on one that really boots.
//
//   boot_probe install JOB FOLDER COMMAND…     has COMMAND run in FOLDER at every boot
//   boot_probe remove JOB                      takes that back
//   boot_probe cron-file JOB FOLDER COMMAND…   prints what cron would get
//   boot_probe power-off
//
// Only on a machine that has the file /boot-test: never on the one that the tests run on.
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/result.h"
#include "machine/boot.h"
#include "machine/boot_unit.h"
#include "machine/power.h"
#include "sys/posix_world.h"
#include "sys/world.h"

namespace {

using outlast::Error;
using outlast::ErrorCode;
using outlast::JobName;
using outlast::Result;

Result<void> probe(const std::vector<std::string>& words) {
  outlast::sys::RealWorld real;
  outlast::sys::World& world = real.world();
  if (!world.files.stat("/boot-test")) {
    return Error(ErrorCode::kPermissionDenied, "this is no machine of a boot test");
  }
  const std::string& what = words.at(0);
  if (what == "power-off") return outlast::machine::power_off(world, {}, {});
  const JobName job(words.at(1));
  if (what == "remove") {
    OUTLAST_TRY_ASSIGN(const auto gone, outlast::machine::remove_boot(world, job, {}));
    for (const std::string& file : gone) std::printf("%s\n", file.c_str());
    return {};
  }
  const outlast::machine::BootSpec spec = {.job = job,
                                           .argv = {words.begin() + 3, words.end()},
                                           .working_folder = words.at(2),
                                           .path = "/opt/a b/%h/$x:/usr/sbin:/usr/bin:/sbin:/bin"};
  if (what == "cron-file") {
    OUTLAST_TRY_ASSIGN(const std::string text, outlast::machine::cron_file(spec));
    std::printf("%s", text.c_str());
    return {};
  }
  OUTLAST_TRY_ASSIGN(const auto installed, outlast::machine::install_boot(world, spec, {}));
  std::printf("%s\n", installed.file.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::size_t> words_wanted = {
      {"install", 4}, {"remove", 2}, {"cron-file", 4}, {"power-off", 1}};
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto wanted = words_wanted.find(words.empty() ? "" : words[0]);
  if (wanted == words_wanted.end() || words.size() < wanted->second) return 2;
  const Result<void> done = probe(words);
  if (!done) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done ? 0 : 1;
}
