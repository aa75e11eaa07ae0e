#include "store/directory_list.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "store/directory_files.h"
#include "store/object_store.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

// Something in a folder as it stands in keys: a file, or a folder with its '/'.
struct Item {
  std::string key;
  bool is_folder = false;
};

class Walk {
 public:
  Walk(sys::FileSystem& fs, const std::string& root, const ListOptions& options)
      : fs_(fs),
        root_(root),
        options_(options),
        after_(std::max(options.start_after, options.page_token)),
        given_folder_(options.folders && options.page_token.ends_with('/') ? options.page_token
                                                                           : std::string()) {}

  // Everything below the folder, in order; false once there is more than fits on the page.
  Result<bool> visit(const std::string& folder) {
    OUTLAST_TRY_ASSIGN(const std::vector<Item> items, items_of(folder));
    for (const Item& item : items) {
      if (!may_matter(item)) continue;
      OUTLAST_TRY_ASSIGN(const bool more, item.is_folder ? visit_folder(item.key) : add(item.key));
      if (!more) return false;
    }
    return true;
  }

  ListPage take_page() { return std::move(page_); }

 private:
  // In the order of keys, which is not that of names: "a.b" comes before "a/b", although "a" comes
  // before "a.b". A folder that is not there, or not any more, is empty.
  Result<std::vector<Item>> items_of(const std::string& folder) {
    const Result<std::vector<sys::DirectoryEntry>> entries =
        fs_.list(sys::join_path(root_, folder.empty() ? "." : folder));
    std::vector<Item> items;
    if (!entries) {
      if (entries.error().code() == ErrorCode::kNotFound) return items;
      return entries.error();
    }
    for (const sys::DirectoryEntry& entry : *entries) {
      const bool is_folder = entry.type == sys::FileType::kDirectory;
      if (!is_folder && entry.type != sys::FileType::kFile) continue;
      if (is_reserved_name(entry.name) || !check_key(entry.name)) continue;
      items.push_back(
          {.key = folder + entry.name + (is_folder ? "/" : ""), .is_folder = is_folder});
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.key < b.key; });
    return items;
  }

  bool may_matter(const Item& item) const {
    const std::string_view key = item.key;
    if (!given_folder_.empty() && key.starts_with(given_folder_)) return false;
    if (!item.is_folder) return key > after_ && key.starts_with(options_.prefix);
    return (key > after_ || after_.starts_with(key)) &&
           (key.starts_with(options_.prefix) || options_.prefix.starts_with(key));
  }

  Result<bool> visit_folder(const std::string& key) {
    if (!options_.folders || key.size() <= options_.prefix.size()) return visit(key);
    OUTLAST_TRY_ASSIGN(const bool has_objects, has_object(key));
    if (!has_objects) return true;
    if (is_full()) return false;
    page_.folders.push_back(key);
    last_ = key;
    return true;
  }

  // That would be listed.
  Result<bool> has_object(const std::string& folder) {
    OUTLAST_TRY_ASSIGN(const std::vector<Item> items, items_of(folder));
    for (const Item& item : items) {
      if (!may_matter(item)) continue;
      if (!item.is_folder) return true;
      OUTLAST_TRY_ASSIGN(const bool has, has_object(item.key));
      if (has) return true;
    }
    return false;
  }

  Result<bool> add(const std::string& key) {
    if (!check_key(key)) return true;  // too long, as a whole
    const Result<sys::FileInfo> info = fs_.stat(sys::join_path(root_, key));
    if (!info) {
      if (info.error().code() == ErrorCode::kNotFound) return true;  // gone by now
      return info.error();
    }
    if (info->type != sys::FileType::kFile) return true;
    if (is_full()) return false;
    page_.objects.push_back(object_of(key, *info));
    last_ = key;
    return true;
  }

  // Asked when there is one more, so that the last page is known to be the last.
  bool is_full() {
    if (page_.objects.size() + page_.folders.size() < options_.page_max) return false;
    page_.next = last_;
    return true;
  }

  sys::FileSystem& fs_;
  const std::string& root_;
  const ListOptions& options_;
  const std::string after_;
  const std::string given_folder_;  // on the page before, with all that is in it
  std::string last_;
  ListPage page_;
};

}  // namespace

Result<ListPage> list_directory(sys::FileSystem& fs, const std::string& root,
                                const ListOptions& options) {
  // Straight to the folder that the prefix leads to, unless no key can begin so.
  const std::size_t slash = options.prefix.rfind('/');
  const std::string start = slash == std::string::npos ? "" : options.prefix.substr(0, slash + 1);
  if (!start.empty() && !check_file_key(start.substr(0, slash))) return ListPage();
  Walk walk(fs, root, options);
  OUTLAST_TRY(walk.visit(start));
  ListPage page = walk.take_page();
  if (!page.objects.empty() || !page.folders.empty()) return page;
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, fs.stat(root));
  if (info.type == sys::FileType::kFile) return Error(ErrorCode::kNotFound, root + " is a file");
  return page;
}

}  // namespace outlast::store
