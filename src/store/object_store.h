#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/call_context.h"

// What outlast needs of an object store, and what every store here promises exactly alike. One
// suite (store/testing/store_suite.h) checks the promises on all of them.
namespace outlast::store {

// An object's name is UTF-8, 1 to 1,024 bytes, without control characters, made of segments joined
// by '/': none is empty, "." or "..". Keys are ordered by their bytes. kInvalidArgument, with what
// is wrong, otherwise.
Result<void> check_key(std::string_view key);

struct ObjectInfo {
  std::string key = {};
  std::uint64_t size = 0;
  // Opaque; another one after every write that changes the bytes. For WriteIf, GetOptions,
  // remove_if.
  std::string version = {};
  WallTime modified = {};                    // by the store's clock
  std::optional<std::uint32_t> crc32c = {};  // of the whole object, where the store keeps one
};

// The condition under which a write takes place, judged and done in one atomic step.
struct WriteIf {
  enum class Kind { kAlways, kAbsent, kVersion };
  Kind kind = Kind::kAlways;
  std::string version = {};

  static WriteIf always() { return {}; }
  // Lost: kAlreadyExists.
  static WriteIf absent() { return {.kind = Kind::kAbsent}; }
  // Lost, also because it is gone: kConditionFailed.
  static WriteIf version_is(std::string version) {
    return {.kind = Kind::kVersion, .version = std::move(version)};
  }
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct GetOptions {
  std::optional<ByteRange> range = {};  // the whole object otherwise
  std::string if_version = {};          // kConditionFailed if it is another one by now
};

// Takes what is read, in order, in pieces of any size; `object` is the same each time. Not called
// for an empty object. An error ends the read with that error.
using ByteSink = std::function<Result<void>(const ObjectInfo& object, BytesView piece)>;

struct ListOptions {
  std::string prefix = {};       // of the key; need not end at a segment
  std::string start_after = {};  // only keys greater than this
  // Keys with a '/' after the prefix are given as folders: everything up to that '/', once.
  bool folders = false;
  std::uint32_t page_max = 1000;  // objects and folders together; a page may have fewer, even none
  std::string page_token =
      {};  // ListPage::next of the page before; the rest must be as it was then
};

struct ListPage {
  std::vector<ObjectInfo> objects = {};   // in key order
  std::vector<std::string> folders = {};  // in key order, each with its '/'
  std::string next = {};                  // empty: this was the last page
};

struct UploadPlan {
  std::uint64_t size = 0;        // of the whole object; > 0
  std::uint64_t part_bytes = 0;  // of every part but the last, within the store's Properties
  WriteIf condition = {};        // judged when it completes

  std::uint64_t part_count() const { return (size + part_bytes - 1) / part_bytes; }
  std::uint64_t bytes_of(std::uint64_t index) const {
    return index + 1 < part_count() ? part_bytes : size - index * part_bytes;
  }
};

// A large object on its way: nothing of it is visible until complete(). Parts may be put in
// parallel and in any order, unless Properties::parts_in_order. Destroying it leaves the parts in
// the store, for resume_upload().
class Upload {
 public:
  virtual ~Upload() = default;
  // Part `index`, from 0, of exactly the planned size: kInvalidArgument otherwise. Putting a part
  // again replaces it; with Properties::parts_in_order it must then be the same bytes.
  virtual Result<void> put_part(std::uint64_t index, BytesView bytes,
                                const sys::CallContext& ctx) = 0;
  // The parts that the store already has: after resume_upload(), those put before. In order.
  virtual std::vector<std::uint64_t> stored_parts() const = 0;
  // Publishes the object, atomically; its version. kInvalidArgument while parts are missing,
  // kNotFound if it was completed or aborted before, kUnknownOutcome as for put().
  virtual Result<std::string> complete(const sys::CallContext& ctx) = 0;
  // Drops the parts. Ok if there is nothing left to drop.
  virtual Result<void> abort(const sys::CallContext& ctx) = 0;
  // What resume_upload() wants, in this process or another. Treat it as a secret: with some stores
  // it is one.
  virtual Secret<std::string> token() const = 0;
};

// What a store can do, and within which bounds. Immutable.
struct Properties {
  std::string kind = {};  // "memory", "directory", "S3", "GCS", "Azure"
  bool conditional_remove =
      true;  // false: remove_if() looks first, then removes; a race is possible
  bool conditional_upload = true;    // UploadPlan::condition is judged atomically
  bool parts_in_order = false;       // put_part() one after the other, from 0
  bool start_after_is_cheap = true;  // false: the store is asked for everything before it, too
  bool signed_urls = false;
  std::uint64_t put_bytes_max = 0;  // larger objects need start_upload()
  std::uint64_t part_bytes_min = 1;
  std::uint64_t part_bytes_max = 0;
  std::uint64_t part_granule = 1;  // part_bytes is a multiple of this
  std::uint64_t parts_max = 10'000;
};

// Strongly consistent: once a call has returned, every later call of anybody sees its effect.
//
// Errors, beside the conditions': kNotFound (no such object; no such bucket, which the sentence
// says), kPermissionDenied, kInvalidArgument (a bad key or plan; a range that is empty, or begins
// at or past the end), kNoSpace, kUnavailable and kThrottled (surely not done, may work later; with
// Error::retry_after() if the store said when), kCorrupt (bytes are not those that were stored),
// kDeadlineExceeded, kCancelled, kFailed. A write whose answer was lost is kUnknownOutcome: it may
// have happened, now or a little later. Nothing guesses: a caller that must know reads back and
// compares something only it can have written. Each sentence names the object's URL, what was tried
// and what to do; no secret is in it.
//
// Thread-safe.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual const Properties& properties() const = 0;
  // What stands before a key in messages: "s3://bucket/prefix/". Empty key: the store's own URL.
  virtual std::string url_of(std::string_view key) const = 0;

  // Writes the whole object; its new version.
  virtual Result<std::string> put(const std::string& key, BytesView bytes, const WriteIf& condition,
                                  const sys::CallContext& ctx) = 0;
  // A read of a whole object is checked against the checksum that the store keeps, if it keeps one:
  // kCorrupt, after the sink has had the bytes. A shorter range at the end of the object is given
  // as far as it goes.
  virtual Result<ObjectInfo> get(const std::string& key, const GetOptions& options,
                                 const ByteSink& sink, const sys::CallContext& ctx) = 0;
  virtual Result<ObjectInfo> head(const std::string& key, const sys::CallContext& ctx) = 0;
  virtual Result<ListPage> list(const ListOptions& options, const sys::CallContext& ctx) = 0;
  // Ok if it is not there.
  virtual Result<void> remove(const std::string& key, const sys::CallContext& ctx) = 0;
  // Ok if it is not there; kConditionFailed if it is there in another version.
  virtual Result<void> remove_if(const std::string& key, const std::string& version,
                                 const sys::CallContext& ctx) = 0;

  virtual Result<std::unique_ptr<Upload>> start_upload(const std::string& key,
                                                       const UploadPlan& plan,
                                                       const sys::CallContext& ctx) = 0;
  // Goes on with an upload that start_upload() began with the same plan. kNotFound if the store no
  // longer has it.
  virtual Result<std::unique_ptr<Upload>> resume_upload(const std::string& key,
                                                        const UploadPlan& plan,
                                                        const Secret<std::string>& token,
                                                        const sys::CallContext& ctx) = 0;

  // A URL with which anybody can GET the object for so long. kInvalidArgument where
  // Properties::signed_urls is false.
  virtual Result<Secret<std::string>> signed_url(const std::string& key, Duration valid_for,
                                                 const sys::CallContext& ctx) = 0;
  // The time by the store's own clock.
  virtual Result<WallTime> server_time(const sys::CallContext& ctx) = 0;
};

}  // namespace outlast::store
