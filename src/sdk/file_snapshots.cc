#include "sdk/file_snapshots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sdk/copy_plan.h"
#include "sdk/file_writer.h"
#include "sdk/folder_lock.h"
#include "sdk/own_fd.h"
#include "sdk/own_rank.h"
#include "sdk/say.h"
#include "sdk/snapshot_header.h"
#include "sdk/snapshot_layout.h"

namespace outlast::sdk {
namespace {

constexpr std::string_view kPrefix = "snapshot-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::string_view kAside = ".aside";

struct FileName {
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

std::string name_of(const FileName& name) {
  return std::string(kPrefix) + std::to_string(name.step) + "-rank-" + std::to_string(name.rank) +
         "-of-" + std::to_string(name.ranks) + std::string(kSuffix);
}

// Of a file that this process is writing.
std::string unfinished_end() {
  return "." + std::to_string(::getpid()) + std::string(kUnfinished);
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<FileName> read_name(std::string_view text) {
  FileName name;
  std::string_view rest = text;
  const bool is_one = take_word(rest, kPrefix) && take_number(rest, name.step) &&
                      take_word(rest, "-rank-") && take_number(rest, name.rank) &&
                      take_word(rest, "-of-") && take_number(rest, name.ranks) && rest == kSuffix;
  // The same numbers, written as nobody of us writes them, would be another file.
  if (!is_one || name_of(name) != text || name.rank >= name.ranks) return std::nullopt;
  return name;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const OwnFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return;
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) fail_file("read", path, errno);
  if (!S_ISREG(found.st_mode) || found.st_size <= 0) return;
  const auto size = static_cast<std::size_t>(found.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) fail_file("read", path, errno);
  bytes_ = {static_cast<std::byte*>(mapped), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

FileSnapshots::FileSnapshots(std::string folder, OwnRank own)
    : folder_(std::move(folder)), own_(own) {}

std::string FileSnapshots::path_of(std::uint64_t step, std::uint32_t rank) const {
  return folder_ + "/" + name_of({.step = step, .rank = rank, .ranks = own_.ranks});
}

void FileSnapshots::take_folder() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) fail_file("make the folder", folder_, error.value());
  if (lock_) return;
  // Now, and not after the first hours of training.
  if (::faccessat(AT_FDCWD, folder_.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    fail_file("write into", folder_, errno);
  }
  remove_unfinished(lock_.emplace(folder_, own_).is_held());
}

// What an earlier process of this rank was killed over. Without a lock it may be another's, which
// is at work.
void FileSnapshots::remove_unfinished(bool is_locked) const {
  const std::string own = "-rank-" + std::to_string(own_.rank) + "-of-" +
                          std::to_string(own_.ranks) + std::string(kSuffix) + ".";
  const std::string end = is_locked ? std::string(kUnfinished) : unfinished_end();
  std::vector<std::filesystem::path> unfinished;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), last; !error && entry != last;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_own = name.starts_with(kPrefix) && name.find(own) != std::string::npos;
    if (is_own && name.ends_with(end)) unfinished.push_back(entry->path());
  }
  std::error_code ignored;  // it is in nobody's way
  for (const std::filesystem::path& path : unfinished) std::filesystem::remove(path, ignored);
}

void FileSnapshots::save(const SnapshotLayout& layout, std::uint64_t step,
                         const std::vector<std::string>& blobs) {
  take_folder();
  const std::string path = path_of(step, own_.rank);
  FileWriter writer(path + unfinished_end());
  writer.write(layout.head());
  writer.write(layout.tail(step, blobs));
  for (const Piece& piece : layout.plan().pieces()) {
    writer.write({reinterpret_cast<const char*>(piece.memory), piece.bytes});
  }
  for (const std::string& blob : blobs) writer.write(blob);
  writer.finish(path);
  sync_folder(folder_);
  remove_old(step);
}

FileSnapshots::Seen FileSnapshots::look() const {
  Seen seen;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = read_name(entry->path().filename().string());
    if (!name) continue;
    if (name->ranks == own_.ranks) {
      seen.ranks_of_step[name->step].insert(name->rank);
    } else {
      seen.other_counts.insert(name->ranks);
    }
  }
  // To see none where there are some would be to start anew without need.
  if (error && error != std::errc::no_such_file_or_directory) {
    fail_file("read the folder", folder_, error.value());
  }
  return seen;
}

void FileSnapshots::remove_old(std::uint64_t newest) const {
  constexpr int kKept = 2;
  int kept = 0;
  bool has_common = false;
  const auto found = look().ranks_of_step;
  std::error_code ignored;  // it is tried again after the next save
  for (auto step = found.rbegin(); step != found.rend(); ++step) {
    if (step->second.count(own_.rank) == 0) continue;
    // Later ones are of a training that was given up.
    if (step->first <= newest) {
      // Other ranks may be behind: what all have is where they would resume, however old it is.
      const bool is_newest_common = !has_common && all_have(step->second);
      has_common = has_common || is_newest_common;
      if (++kept <= kKept || is_newest_common) continue;
    }
    std::filesystem::remove(path_of(step->first, own_.rank), ignored);
  }
}

void FileSnapshots::give_up_after(std::optional<std::uint64_t> step) {
  bool has_changed = false;
  const Seen seen = look();
  for (const auto& [found, ranks] : seen.ranks_of_step) {
    if (ranks.count(own_.rank) == 0 || (step && found <= *step)) continue;
    const std::string path = path_of(found, own_.rank);
    std::error_code error;
    if (step) {
      std::filesystem::remove(path, error);
    } else {
      std::filesystem::rename(path, path + std::string(kAside), error);
    }
    if (error) fail_file(step ? "remove" : "set aside", path, error.value());
    has_changed = true;
  }
  if (has_changed) sync_folder(folder_);
}

// Every rank judges the files of all, and so all come to the same step.
bool FileSnapshots::is_whole(std::uint64_t step, std::uint32_t rank) const {
  const std::string path = path_of(step, rank);
  const MappedFile file(path);
  const auto header = read_snapshot_header(file.bytes());
  if (header && header->step == step) return true;
  say(path + (header ? " is of another step than its name says" : " is no whole snapshot") +
      ": it is passed over");
  return false;
}

void FileSnapshots::say_why_none(const Seen& seen) const {
  const std::string begins = ", and training starts from the beginning";
  const std::string ranks = std::to_string(own_.ranks);
  if (!seen.ranks_of_step.empty()) {
    say(folder_ + " has snapshots, but no step that is whole for " +
        (own_.ranks == 1 ? "this rank" : "all " + ranks + " ranks") + ": those of rank " +
        std::to_string(own_.rank) + " are set aside (" + std::string(kAside) + ")" + begins);
  } else if (!seen.other_counts.empty()) {
    say(folder_ + " has snapshots of a job of " + std::to_string(*seen.other_counts.rbegin()) +
        " ranks, and this one has " + ranks + ": they are left as they are" + begins);
  }
}

std::optional<FileSnapshots::Found> FileSnapshots::newest() {
  take_folder();
  const Seen seen = look();
  const auto& found = seen.ranks_of_step;
  for (auto step = found.rbegin(); step != found.rend(); ++step) {
    bool all = all_have(step->second);
    for (std::uint32_t rank = 0; rank < own_.ranks && all; ++rank) {
      all = is_whole(step->first, rank);
    }
    if (!all) continue;
    const std::string path = path_of(step->first, own_.rank);
    return Found{.step = step->first, .path = path, .file = MappedFile(path)};
  }
  say_why_none(seen);
  return std::nullopt;
}

}  // namespace outlast::sdk
