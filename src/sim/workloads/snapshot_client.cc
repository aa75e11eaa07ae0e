#include "sim/workloads/snapshot_client.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "sdk/arena.h"
#include "sys/local_socket.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kPieces = 3;  // of a copy
constexpr Duration kReadWait = std::chrono::milliseconds(20);

// Words of an arena in which nobody ever reads.
class BlindWords {
 public:
  explicit BlindWords(sdk::ArenaWords words) : words_(words) {}
  std::uint64_t load(std::size_t word) const {
    return word == sdk::kReading ? 0 : words_.load(word);
  }
  void store(std::size_t word, std::uint64_t value) { words_.store(word, value); }
  void fence() { words_.fence(); }

 private:
  sdk::ArenaWords words_;
};

}  // namespace

Result<std::unique_ptr<SnapshotClient>> SnapshotClient::connect(sys::World& world,
                                                                const std::string& socket,
                                                                const Hello& hello,
                                                                Manners manners) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::LocalSocket> connected,
                     world.local_sockets.connect(socket, {}));
  std::unique_ptr<SnapshotClient> client(
      new SnapshotClient(world, std::move(connected), std::move(manners)));
  OUTLAST_TRY(client->greet(hello));
  return client;
}

Result<void> SnapshotClient::greet(const Hello& hello) {
  const Json json = {{"type", "hello"},      {"protocol", hello.protocol}, {"rank", hello.rank},
                     {"ranks", hello.ranks}, {"bytes", hello.bytes},       {"sdk", "sim"}};
  OUTLAST_TRY(socket_->send({.text = canonical_json(json)}, {}));
  OUTLAST_TRY_ASSIGN(const sys::LocalMessage message, socket_->receive({}));
  OUTLAST_TRY_ASSIGN(const Json answer, parse_json(message.text));
  OUTLAST_TRY_ASSIGN(const std::string type, json_string(answer, "type"));
  if (type == "refused") {
    OUTLAST_TRY_ASSIGN(std::string why, json_string(answer, "why"));
    return Error(ErrorCode::kInvalidArgument, std::move(why));
  }
  OUTLAST_TRY_ASSIGN(slots_, json_uint(answer, "slots"));
  OUTLAST_TRY_ASSIGN(slot_bytes_, json_uint(answer, "slot_bytes"));
  OUTLAST_TRY_ASSIGN(const std::uint64_t leave_code, json_uint(answer, "leave_code"));
  OUTLAST_TRY_ASSIGN(note_, json_string(answer, "note"));
  leave_code_ = static_cast<int>(leave_code);
  memory_ = message.memory;
  if (!memory_ || memory_->bytes().size() < sdk::arena_bytes(slots_, slot_bytes_) ||
      words().load(sdk::kMagic) != sdk::kArenaMagic) {
    return Error(ErrorCode::kCorrupt, "the welcome came without an arena");
  }
  sdk::ArenaWords words = this->words();
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    const std::optional<sdk::SlotSnapshot> found = sdk::look_at_slot(words, slot);
    if (found) answered_ = std::max(answered_, found->answers);
    if (manners_.wrote) manners_.wrote(slot, found ? std::optional(found->step) : std::nullopt);
  }
  return {};
}

std::span<std::byte> SnapshotClient::slot(std::uint64_t slot) const {
  return memory_->bytes().subspan(sdk::slot_begin(slot, slot_bytes_), slot_bytes_);
}

std::optional<SnapshotClient::Snapshot> SnapshotClient::resume() const {
  sdk::ArenaWords words = this->words();
  const std::optional<sdk::SlotSnapshot> newest = sdk::newest_snapshot(words, slots_);
  if (!newest || newest->length > slot_bytes_) return std::nullopt;
  return Snapshot{.step = newest->step,
                  .slot = newest->slot,
                  .bytes = slot(newest->slot).first(newest->length)};
}

std::uint64_t SnapshotClient::open_ask(std::uint64_t step) const {
  const sdk::ArenaWords words = this->words();
  const std::uint64_t ask = words.load(sdk::kAsk);
  return ask != answered_ && step >= words.load(sdk::kAskStep) ? ask : 0;
}

Result<void> SnapshotClient::step_done(std::uint64_t step, BytesView state, bool is_due) {
  words().store(sdk::kStep, step + 1);
  const std::uint64_t ask = open_ask(step);
  if (ask == 0 && !is_due) return {};
  OUTLAST_TRY(save(step, state, ask));
  if (ask != 0) answered_ = ask;
  leaves_ = leaves_ || ask % 2 == 1;
  return {};
}

Result<sdk::SlotWriting> SnapshotClient::take_slot() {
  while (true) {
    sdk::ArenaWords words = this->words();
    BlindWords blind(words);
    const auto taken = manners_.minds_reading ? sdk::begin_writing(words, slots_)
                                              : sdk::begin_writing(blind, slots_);
    if (taken) return *taken;
    OUTLAST_TRY(world_.clock.sleep_for(kReadWait, {}));
  }
}

Result<void> SnapshotClient::save(std::uint64_t step, BytesView state, std::uint64_t answers) {
  sdk::ArenaWords words = this->words();
  OUTLAST_TRY_ASSIGN(const sdk::SlotWriting writing, take_slot());
  const std::size_t begun = sdk::slot_word(writing.slot, sdk::kBegun);
  if (manners_.wrote) manners_.wrote(writing.slot, std::nullopt);
  if (!manners_.says_begun)
    words.store(begun, words.load(sdk::slot_word(writing.slot, sdk::kDone)));
  const std::size_t piece = state.size() / kPieces + 1;
  for (std::size_t at = 0; at < state.size(); at += piece) {
    if (at > 0 && manners_.between && !manners_.between()) {
      return Error(ErrorCode::kCancelled, "the trainer has died in the middle of a save");
    }
    const BytesView part = state.subspan(at, std::min(piece, state.size() - at));
    std::ranges::copy(part, slot(writing.slot).begin() + static_cast<std::ptrdiff_t>(at));
  }
  words.store(begun, writing.number);
  sdk::end_writing(words, writing, step, state.size(), answers);
  if (manners_.wrote) manners_.wrote(writing.slot, step);
  send(R"({"type":"saved"})");
  return {};
}

void SnapshotClient::done() {
  send(R"({"type":"done"})");
}

void SnapshotClient::progress(std::uint64_t step, std::uint64_t total) {
  send(canonical_json(Json{{"type", "progress"}, {"step", step}, {"total", total}}));
}

void SnapshotClient::send(const std::string& text) {
  (void)socket_->send({.text = text}, {});
}

}  // namespace outlast::sim
