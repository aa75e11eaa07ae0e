#include "trainer_files/pointer_file.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace outlast::trainer_files {
namespace {

// "ckpt-3" of `model_checkpoint_path: "ckpt-3"`, and "" of the keys that have no text.
std::string_view value_of(std::string_view line) {
  if (!line.ends_with('"')) return line.find(": ") == std::string_view::npos ? line : "";
  const std::size_t begin = line.find('"') + 1;
  return begin < line.size() ? line.substr(begin, line.size() - 1 - begin) : "";
}

}  // namespace

std::vector<std::string> names_in_pointer(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view value = value_of(ascii_trimmed(text.substr(at, end - at)));
    const std::string_view name = value.substr(value.rfind('/') + 1);
    if (!name.empty()) names.emplace_back(name);
    at = end + 1;
  }
  return names;
}

}  // namespace outlast::trainer_files
