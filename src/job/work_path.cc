#include "job/work_path.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast::job {
namespace {

Error bad_path(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

bool is_home(std::string_view text) {
  return text == "~" || text.starts_with("~/");
}

// The shortest form of a relative path; "." for the folder itself. A folder named "~" keeps its
// "./", without which it would become the home folder.
Result<std::string> shorten(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return bad_path("it leaves the folder");
    } else {
      parts.pop_back();
    }
  }
  std::string path;
  for (const std::string_view part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  if (path.empty()) return ".";
  return is_home(path) ? "./" + path : path;
}

Result<void> check_text(std::string_view text) {
  if (text.empty()) return bad_path("it is empty");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return bad_path("it has a control character");
    }
  }
  return {};
}

}  // namespace

Result<std::string> canonical_file(std::string_view text) {
  OUTLAST_TRY(check_text(text));
  if (text.front() == '/') return bad_path("a path that starts with '/' is not in it");
  if (is_home(text)) return bad_path("the home folder is not in it");
  if (text.find_first_of("*?") != std::string_view::npos) {
    return bad_path("patterns are not known; name the folder");
  }
  return shorten(text);
}

Result<std::string> canonical_cache(std::string_view text) {
  OUTLAST_TRY(check_text(text));
  if (text.front() == '/') return bad_path("a path that starts with '/' may not exist there");
  const bool home = is_home(text);
  OUTLAST_TRY_ASSIGN(const std::string path, shorten(home ? text.substr(1) : text));
  if (path == ".") return bad_path("name a folder inside it");
  return home ? "~/" + path : path;
}

Result<std::string> canonical_checkpoint_dir(std::string_view text) {
  OUTLAST_TRY(check_text(text));
  if (is_home(text)) return bad_path("the home folder may be another one on the next machine");
  const bool absolute = text.front() == '/';
  OUTLAST_TRY_ASSIGN(const std::string path, shorten(text));
  // In a job file the word alone means: find it.
  if (!absolute) return path == "auto" ? "./auto" : path;
  if (path == ".") return bad_path("this is the whole file system");
  return "/" + path;
}

}  // namespace outlast::job
