#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"
#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "sys/http.h"

// How objects get into the stand-in: at once, with metadata, or through a resumable session.
namespace outlast::store::gcs::testing {

// What a client says of an object before or with its bytes.
struct StandInDeclaration {
  std::string name = {};
  std::string content_type = {};
  std::string metadata_json = {};
  std::string crc32c = {};  // base64; empty: not declared
  std::string md5 = {};
};
// The JSON in the first part of a multipart upload, or in the start of a resumable one.
std::variant<StandInDeclaration, StandInRefusal> read_declaration(const std::string& json,
                                                                  const std::string& query_name);

struct StandInParts {
  std::string json = {};
  std::string content_type = {};
  std::string content = {};
};
// The two parts of a multipart/related body; nullopt if it is not exactly that.
std::optional<StandInParts> split_multipart(const std::string& content_type,
                                            const std::string& body);

// Judges the conditions and the checksums, and stores: 200 and the object, or the refusal.
sys::HttpResponse insert_object(StandInBucket& bucket, const StandInDeclaration& declaration,
                                const StandInConditions& conditions, std::string content,
                                WallTime now);

// One resumable upload. Confined to its owner, the stand-in, which locks.
class StandInSession {
 public:
  struct Start {
    std::string bucket = {};
    StandInDeclaration declaration = {};
    StandInConditions conditions = {};
    std::optional<std::uint64_t> total = {};  // from X-Upload-Content-Length
    // At most so much of a request is kept, in whole granules: a server may keep less than it was
    // sent. 0: everything.
    std::uint64_t kept_per_request_max = 0;
  };
  explicit StandInSession(Start start) : start_(std::move(start)) {}

  const std::string& bucket() const { return start_.bucket; }
  bool is_open() const { return !end_; }
  // A chunk, a question, or a repetition of what was sent before.
  sys::HttpResponse put(const StandInRequest& request, StandInBucket& bucket, WallTime now);
  sys::HttpResponse cancel();

 private:
  struct Range {
    std::optional<std::uint64_t> first = {};  // nullopt: a question
    std::uint64_t last = 0;
    std::optional<std::uint64_t> total = {};  // nullopt: not known yet
  };
  static std::optional<Range> parse_range(const std::string& header, std::uint64_t body_bytes);
  std::optional<StandInRefusal> check(const Range& range, const StandInRequest& request) const;
  sys::HttpResponse resume_incomplete() const;
  sys::HttpResponse finish(const StandInRequest& request, StandInBucket& bucket, WallTime now);

  const Start start_;
  std::string content_;
  std::optional<sys::HttpResponse> end_;  // what every request gets from now on
};

}  // namespace outlast::store::gcs::testing
