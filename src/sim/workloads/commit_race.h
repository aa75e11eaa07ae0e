#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// What the race for a commit log needs beside the log itself: the mistakes that it must find, and
// what must hold in the end.
namespace outlast::sim {

// Whoever writes so does not obey the log: its entries never count after a fence, and nothing else
// is asked of them.
inline constexpr char kStrayWriter[] = "stray";

// Between a commit log and its store: makes the code above it act as if it had a bug, by telling it
// something else than what is so. Confined to its owner.
class MishearingStore : public store::AroundStore {
 public:
  enum class Mistake {
    kNone,
    kLevelEpochs,  // every entry seems to be of epoch 1
    kHearNoFence,  // the same, and a fence seems to be something else
    kBelieveWon,   // a write whose answer was lost seems to be done
    kPutBlindly,   // conditions are forgotten
  };

  MishearingStore(store::InnerStore inner, Mistake mistake);
  void set(Mistake mistake) { mistake_ = mistake; }

  Result<std::string> put(const std::string& key, BytesView bytes, const store::WriteIf& condition,
                          const sys::CallContext& ctx) override;
  Result<store::ObjectInfo> get(const std::string& key, const store::GetOptions& options,
                                const store::ByteSink& sink, const sys::CallContext& ctx) override;

 protected:
  Result<Ticket> before(const store::StoreCall& call, const sys::CallContext& ctx) override;
  std::optional<Error> after(const store::StoreCall& call, Ticket ticket, const Error* error,
                             const sys::CallContext& ctx) override;

 private:
  Mistake mistake_;
};

// The whole log, place by place; what is not there or cannot be read is an error.
Result<std::vector<job::LogEntry>> read_whole_log(const store::MemoryBucket& bucket);

// The next entry of somebody who knows that his turn is over and writes nevertheless.
job::LogEntry stray_entry(const std::vector<job::LogEntry>& log, std::uint64_t dice);

// The rules of the log once more, folded from the first entry to the last.
struct PlainHistory {
  explicit PlainHistory(const std::vector<job::LogEntry>& log);

  job::Epoch highest = 0;
  job::Seq ended = 0;
  std::vector<job::Seq> restorable = {};
};

// What must hold in every log, whatever happened to its writers: fences rise, nothing of a lower
// epoch follows one, `floor` and `ended` are true, nothing is there twice, and its end says the
// same as the whole. What does not hold.
enum class Whys { kUnique, kOrdinary };  // whether no two entries were meant to have the same one
std::optional<std::string> find_fault(const std::vector<job::LogEntry>& log,
                                      Whys whys = Whys::kUnique);

}  // namespace outlast::sim
