// Reads that break and go on, for RetryingStore.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/read_verifier.h"
#include "store/retrying_store.h"
#include "sys/call_context.h"

namespace outlast::store {
namespace {

// What a read has had so far, over all tries. Confined to the read.
class BrokenRead {
 public:
  BrokenRead(std::string what, const GetOptions& options, const ByteSink& sink)
      : what_(std::move(what)), options_(options), sink_(sink), verifier_(options, what_) {}

  std::uint64_t delivered() const { return verifier_.bytes(); }
  bool sink_failed() const { return sink_failed_; }
  // Nothing is missing but a good end.
  bool is_whole() const { return delivered() > 0 && delivered() == expected(); }

  // What is still to be read.
  GetOptions rest() const {
    GetOptions rest = options_;
    if (delivered() == 0) return rest;
    rest.range = ByteRange{.offset = begin() + delivered(), .length = expected() - delivered()};
    rest.if_version = first_.version;
    return rest;
  }

  Result<void> take(const ObjectInfo& object, BytesView piece) {
    if (delivered() == 0) first_ = object;
    verifier_.add(piece);
    Result<void> taken = sink_(first_, piece);
    sink_failed_ = !taken;
    return taken;
  }

  // Once the last try has ended well, with this.
  Result<ObjectInfo> finish(const ObjectInfo& object) const {
    const ObjectInfo& info = delivered() > 0 ? first_ : object;
    OUTLAST_TRY(verifier_.check(info));
    return info;
  }

  // If the store refused the rest because the object is no longer the one that was begun.
  std::optional<Error> replaced(const Error& error) const {
    if (error.code() != ErrorCode::kConditionFailed || delivered() == 0 ||
        !options_.if_version.empty()) {
      return std::nullopt;
    }
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{}: the object was replaced while it was being read, after {} bytes "
                             "of the old one: read it again from the start",
                             what_, delivered()));
  }

 private:
  std::uint64_t begin() const { return options_.range ? options_.range->offset : 0; }
  std::uint64_t expected() const {
    const std::uint64_t to_end = first_.size - std::min(begin(), first_.size);
    return options_.range ? std::min(options_.range->length, to_end) : to_end;
  }

  const std::string what_;
  const GetOptions& options_;
  const ByteSink& sink_;
  ReadVerifier verifier_;
  ObjectInfo first_;  // as the first byte came with it
  bool sink_failed_ = false;
};

}  // namespace

Result<ObjectInfo> RetryingStore::get(const std::string& key, const GetOptions& options,
                                      const ByteSink& sink, const sys::CallContext& ctx) {
  BrokenRead read("get " + url_of(key), options, sink);
  const auto take = [&](const ObjectInfo& object, BytesView piece) {
    return read.take(object, piece);
  };
  Tries tries;
  while (true) {
    const std::uint64_t before = read.delivered();
    Result<ObjectInfo> outcome = inner_->get(key, read.rest(), take, ctx);
    if (read.sink_failed()) return outcome;
    if (outcome) outcome = read.finish(*outcome);
    if (!outcome && may_work_later(outcome.error().code()) && read.is_whole()) {
      outcome = read.finish({});
    }
    if (outcome) {
      give_back_to_budget();
      return outcome;
    }
    if (auto error = read.replaced(outcome.error())) return *std::move(error);
    if (read.delivered() > before) tries = {};
    OUTLAST_TRY(wait_for_another(tries, outcome.error(), Effect::kReads, ctx));
  }
}

}  // namespace outlast::store
