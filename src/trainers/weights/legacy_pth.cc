#include "trainers/weights/legacy_pth.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/little_endian.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/pth_tensor.h"
#include "trainers/weights/weight_error.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kVersion = 1001;

// Reads pickle after pickle. Confined to its owner.
class Pickles {
 public:
  explicit Pickles(BytesView file) : file_(file) {}

  std::size_t at() const { return at_; }
  Result<Pickle> next() {
    OUTLAST_TRY_ASSIGN(Pickle pickle, read_pickle(file_.subspan(at_), at_));
    at_ += pickle.bytes();
    return pickle;
  }

 private:
  BytesView file_;
  std::size_t at_ = 0;
};

Result<void> check_machine(const Pickle& facts) {
  if (facts.root().kind != PickleKind::kDict) {
    return bad_weights("a dictionary of facts about the machine is expected as its third pickle");
  }
  const std::span<const NodeId> items = facts.items(facts.root());
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const PickleNode& value = facts.at(items[i + 1]);
    if (facts.at(items[i]).text == "little_endian" && value.kind == PickleKind::kBool &&
        value.integer == 0) {
      return bad_weights(
          "it was written by a big-endian machine: save it again on a little-endian one");
    }
  }
  return {};
}

using StorageRefs = std::map<std::string, StorageRef, std::less<>>;

// Each storage that the object refers to, by its key.
Result<StorageRefs> referred(const Pickle& object) {
  StorageRefs refs;
  for (const PickleNode& node : object.nodes()) {
    if (node.kind != PickleKind::kStorage) continue;
    OUTLAST_TRY_ASSIGN(const StorageRef ref, storage_ref(object, node));
    const auto [found, is_new] = refs.emplace(ref.key, ref);
    if (!is_new && (found->second.elements != ref.elements ||
                    found->second.element_bytes() != ref.element_bytes())) {
      return bad_weights(fmt::format("storage {} has two sizes", shown_name(ref.key)));
    }
  }
  return refs;
}

Result<std::map<std::string, BytesView, std::less<>>> read_storages(BytesView file, std::size_t at,
                                                                    const Pickle& keys,
                                                                    const StorageRefs& refs) {
  if (keys.root().kind != PickleKind::kList) {
    return bad_weights("a list of the keys of storages is expected as its fifth pickle");
  }
  std::map<std::string, BytesView, std::less<>> storages;
  for (const NodeId id : keys.items(keys.root())) {
    const std::string_view key = keys.at(id).text;
    const auto ref = refs.find(key);
    if (keys.at(id).kind != PickleKind::kText || ref == refs.end()) {
      return bad_weights(
          fmt::format("it has a storage {} that no tensor is in, and so of no known "
                      "size, at byte {}",
                      shown_name(key), at));
    }
    const auto elements = checkpoint::LittleEndianReader(file.subspan(at)).u64();
    if (!elements) {
      return bad_weights(
          fmt::format("the size of storage {} is expected at byte {} and the file "
                      "ends at byte {}: it was cut short",
                      shown_name(key), at, file.size()));
    }
    at += sizeof *elements;
    if (*elements != ref->second.elements) {
      return bad_weights(fmt::format("storage {} at byte {} has {} elements and {} are expected",
                                     shown_name(key), at, *elements, ref->second.elements));
    }
    const std::uint64_t bytes = *elements * ref->second.element_bytes();
    if (bytes > file.size() - at) {
      return bad_weights(
          fmt::format("storage {} at byte {} should have {} bytes and {} are found: "
                      "the file was cut short",
                      shown_name(key), at, bytes, file.size() - at));
    }
    storages.emplace(key, file.subspan(at, bytes));
    at += bytes;
  }
  if (at != file.size()) {
    return bad_weights(
        fmt::format("its last storage ends at byte {}, and it has {}", at, file.size()));
  }
  return storages;
}

}  // namespace

Result<LegacyPth> read_legacy_pth(BytesView file) {
  Pickles pickles(file);
  OUTLAST_TRY_ASSIGN(const Pickle magic, pickles.next());
  if (magic.root().kind != PickleKind::kLong || magic.root().text != kMagic) {
    return bad_weights("it is a pickle, and not one that torch.save() wrote");
  }
  OUTLAST_TRY_ASSIGN(const Pickle version, pickles.next());
  if (version.root().kind != PickleKind::kInteger || version.root().integer != kVersion) {
    return bad_weights(fmt::format("version {} of the format is expected and {} found", kVersion,
                                   version.root().integer));
  }
  OUTLAST_TRY_ASSIGN(const Pickle machine, pickles.next());
  OUTLAST_TRY(check_machine(machine));
  OUTLAST_TRY_ASSIGN(Pickle object, pickles.next());
  OUTLAST_TRY_ASSIGN(const StorageRefs refs, referred(object));
  OUTLAST_TRY_ASSIGN(const Pickle keys, pickles.next());
  OUTLAST_TRY_ASSIGN(auto storages, read_storages(file, pickles.at(), keys, refs));
  auto find = [storages = std::move(storages)](const StorageRef& ref) -> Result<BytesView> {
    const auto found = storages.find(ref.key);
    if (found != storages.end()) return found->second;
    return bad_weights(fmt::format("storage {} is not in the file", shown_name(ref.key)));
  };
  return LegacyPth{.object = std::move(object), .storages = std::move(find)};
}

}  // namespace outlast::trainers
