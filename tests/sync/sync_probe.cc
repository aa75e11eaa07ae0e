// Does on the real file system what needs syncs; sync_test.cc watches it with strace.
//
//   sync_probe atomic FOLDER    replaces FOLDER/file
//   sync_probe dirs FOLDER      makes FOLDER/a/b
//   sync_probe counter FOLDER   increments a write-ahead counter in FOLDER once
#include <cstdio>
#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "sim/workloads/wal_counter.h"
#include "sys/file_ops.h"
#include "sys/posix_world.h"

namespace {

outlast::Result<void> probe(const std::string& what, const std::string& folder) {
  outlast::sys::RealWorld real;
  outlast::sys::FileSystem& files = real.world().files;
  if (what == "atomic") {
    return outlast::sys::write_file_atomically(files, folder + "/file", outlast::as_bytes("new"));
  }
  if (what == "dirs") return outlast::sys::make_dirs(files, folder + "/a/b");
  OUTLAST_TRY_ASSIGN(const auto counter, outlast::sim::WalCounter::open(files, folder));
  OUTLAST_TRY(counter->increment());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const outlast::Result<void> done = probe(argv[1], argv[2]);
  if (!done) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done ? 0 : 1;
}
