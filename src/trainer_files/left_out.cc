#include "trainer_files/left_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "trainer_files/layout_table.h"
#include "trainer_files/layouts.h"

namespace outlast::trainer_files {
namespace {

constexpr std::string_view kDataFolders[] = {
    "data", "dataset", "datasets", ".data", "cache", ".cache", "downloads", "wandb", "mlruns",
};
// Words that make it a checkpoint even there.
constexpr std::string_view kCheckpointWords[] = {"checkpoint", "ckpt", "epoch", "best", "last"};

// The first folder on the way that holds data; "" if none does.
std::string_view data_folder_of(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = path.find('/', at);
    if (end == std::string_view::npos) break;
    const std::string name = ascii_lower(path.substr(at, end - at));
    if (std::ranges::find(kDataFolders, name) != std::end(kDataFolders)) return path.substr(0, end);
    at = end + 1;
  }
  return {};
}

// "resnet50-0676ba61.pth": PyTorch's hub puts the beginning of the SHA-256 into the name.
bool is_hub_name(std::string_view path) {
  constexpr std::size_t kHashDigits = 8;
  const std::string_view stem = path.substr(0, path.rfind('.'));
  if (!path.ends_with(".pth") || stem.size() <= kHashDigits) return false;
  const std::string_view hash = stem.substr(stem.size() - kHashDigits);
  return stem[stem.size() - kHashDigits - 1] == '-' &&
         hash.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         hash.find_first_of("abcdef") != std::string_view::npos;
}

}  // namespace

std::optional<std::string> reason_by_place(const FoundSet& set) {
  if (set.layout->shape != Shape::kFile) return std::nullopt;
  if (is_hub_name(set.name)) return "has the name of downloaded weights";
  const std::string_view folder = data_folder_of(set.name);
  if (folder.empty()) return std::nullopt;
  const std::string rest = ascii_lower(std::string_view(set.name).substr(folder.size()));
  const bool says_checkpoint = std::ranges::any_of(kCheckpointWords, [&](std::string_view word) {
    return rest.find(word) != std::string::npos;
  });
  if (says_checkpoint) return std::nullopt;
  return fmt::format("was written once, into a folder of data ('{}')", folder);
}

}  // namespace outlast::trainer_files
