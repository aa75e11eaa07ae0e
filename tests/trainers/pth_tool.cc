// Reads a file of weights and writes another, so that PyTorch can be compared to us:
//
//   pth_tool tree IN OUT       all that IN holds, as it is nested there, as .pth
//   pth_tool flat IN OUT       its tensors, by their flat names; safetensors if OUT is called so
//   pth_tool plain IN OUT      the same without what checkpoints put around names
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/file_system.h"
#include "sys/posix_world.h"
#include "trainers/weights/pth_file.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

struct Paths {
  std::string in;
  std::string out;
};

Result<void> convert(sys::FileSystem& files, std::string_view how, const Paths& paths) {
  if (how == "tree") {
    OUTLAST_TRY_ASSIGN(const PthValue value, read_pth(files, paths.in));
    return write_pth(files, paths.out, value);
  }
  OUTLAST_TRY_ASSIGN(Weights weights, read_weights(files, paths.in));
  if (how == "plain") weights = plain_state(std::move(weights));
  if (!paths.out.ends_with(".safetensors")) return write_pth(files, paths.out, weights);
  return write_safetensors(files, paths.out, weights, {{"format", "pt"}});
}

}  // namespace
}  // namespace outlast::trainers

int main(int count, char** words) {
  const std::string_view how = count == 4 ? words[1] : "";
  if (how != "tree" && how != "flat" && how != "plain") {
    std::cerr << "usage: pth_tool tree|flat|plain IN OUT\n";
    return 2;
  }
  outlast::sys::RealWorld real;
  const auto done =
      outlast::trainers::convert(real.world().files, how, {.in = words[2], .out = words[3]});
  if (!done) std::cerr << done.error().to_string() << "\n";
  return done ? 0 : 1;
}
