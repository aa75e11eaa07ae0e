#include "tests/servers/fault_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/object_store.h"

namespace outlast::store::testing {

bool is_honest(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kThrottled ||
         code == ErrorCode::kUnknownOutcome || code == ErrorCode::kCorrupt;
}

const std::set<Content>& FaultModel::possible(const std::string& key) const {
  static const std::set<Content> kAbsent = {std::nullopt};
  const auto found = possible_.find(key);
  return found == possible_.end() ? kAbsent : found->second;
}

void FaultModel::wrote(const std::string& key, const Content& content) {
  remember(key, "wrote", content);
  possible_[key] = {content};
  damaged_.erase(key);
}

void FaultModel::is_damaged(const std::string& key) {
  remember(key, "is damaged", std::nullopt);
  damaged_.insert(key);
}

bool FaultModel::did_not_write(const std::string& key, const Content& content, ErrorCode code) {
  remember(key, "failed to write (" + std::string(to_string(code)) + ")", content);
  if (!is_honest(code)) return false;
  if (code == ErrorCode::kUnknownOutcome) {
    std::set<Content> both = possible(key);
    both.insert(content);
    possible_[key] = both;
  }
  return true;
}

bool FaultModel::saw(const std::string& key, const Content& content) {
  remember(key, "read", content);
  if (damaged_.count(key) != 0) return true;
  if (possible(key).count(content) == 0) return false;
  possible_[key] = {content};
  return true;
}

std::string FaultModel::saw_list(const std::vector<ObjectInfo>& objects) const {
  std::set<std::string> listed;
  for (const ObjectInfo& object : objects) {
    if (!listed.insert(object.key).second) return object.key + " is listed twice";
    if (damaged_.count(object.key) != 0) continue;
    const std::set<Content>& contents = possible(object.key);
    if (std::none_of(contents.begin(), contents.end(), [&](const Content& content) {
          return content && content->size() == object.size;
        })) {
      return object.key + " is listed with a size that it cannot have";
    }
  }
  for (const auto& [key, contents] : possible_) {
    if (damaged_.count(key) == 0 && contents.count(std::nullopt) == 0 && listed.count(key) == 0) {
      return key + " is there, but is not listed";
    }
  }
  return "";
}

std::vector<std::string> FaultModel::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, contents] : possible_) keys.push_back(key);
  return keys;
}

void FaultModel::remember(const std::string& key, const std::string& what, const Content& content) {
  history_[key] += fmt::format(
      "\n  {}: {}", what,
      content ? fmt::format("{} bytes, crc {:08x}", content->size(), crc32c(as_bytes(*content)))
              : "absent");
}

std::string FaultModel::history(const std::string& key) const {
  const auto found = history_.find(key);
  return found == history_.end() ? "" : found->second;
}

}  // namespace outlast::store::testing
