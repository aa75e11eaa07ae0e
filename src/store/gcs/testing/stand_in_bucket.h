#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

// The objects of the stand-in's buckets, and the rules under which they change. No HTTP here.
namespace outlast::store::gcs::testing {

struct StandInObject {
  std::string bucket = {};
  std::string name = {};
  std::shared_ptr<const std::string> content = {};  // shared with answers under way; immutable
  std::uint64_t generation = 0;
  std::string content_type = "application/octet-stream";
  std::string metadata_json = {};  // what the user attached: an object's text, or empty
  std::string crc32c = {};         // base64
  std::string md5 = {};            // base64
  WallTime updated = {};

  // The resource as Google shows it.
  std::string to_json() const;
};

struct StandInConditions {
  std::optional<std::uint64_t> generation_is = {};
  std::optional<std::uint64_t> generation_is_not = {};
  std::optional<std::uint64_t> metageneration_is = {};
  std::optional<std::uint64_t> metageneration_is_not = {};
};

struct StandInListing {
  struct Query {
    std::string prefix = {};
    std::string delimiter = {};
    std::string start_offset = {};  // the first name that may be given
    std::string end_offset = {};    // the first that may not
    std::string page_token = {};
    std::uint64_t page_max = 1000;
  };
  std::vector<StandInObject> items = {};
  std::vector<std::string> prefixes = {};
  std::string next_page_token = {};
};

// Confined to its owner, the stand-in, which locks.
class StandInBucket {
 public:
  explicit StandInBucket(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool empty() const { return objects_.empty(); }
  std::size_t size() const { return objects_.size(); }
  // nullptr if there is none.
  const StandInObject* find(const std::string& name) const;
  bool holds(const std::string& name, const StandInConditions& conditions) const;
  // Gives it a generation that is higher than all before, and checksums.
  const StandInObject& insert(StandInObject object, WallTime now);
  void remove(const std::string& name) { objects_.erase(name); }
  // nullopt if the page token is none of ours.
  std::optional<StandInListing> list(const StandInListing::Query& query) const;

 private:
  std::string name_;
  std::map<std::string, StandInObject> objects_;
  std::uint64_t last_generation_ = 0;
};

}  // namespace outlast::store::gcs::testing
