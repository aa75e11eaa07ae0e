#include "trainers/weights/pth_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/utf8.h"
#include "sys/file_system.h"
#include "trainers/weights/legacy_pth.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/pickle_writer.h"
#include "trainers/weights/pth_tensor.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/stored_zip.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/weight_file.h"
#include "trainers/weights/whole_file.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kZipBegins = "PK\x03\x04";
constexpr char kPickleBegins = '\x80';
constexpr std::size_t kDepthMax = 100;

// From the nodes of a pickle, which may share and repeat each other, to a tree. Its size is limited
// by that of the file, as a few bytes can name a large part once more. Confined to its owner.
class TreeMaker {
 public:
  struct Sizes {
    std::uint64_t file_bytes = 0;
    std::uint64_t pickle_bytes = 0;
  };
  TreeMaker(const Pickle& pickle, const FindStorage& storages, const Sizes& sizes)
      : pickle_(pickle),
        storages_(storages),
        values_left_(sizes.pickle_bytes + 1024),
        text_bytes_left_(64 * sizes.pickle_bytes + (64U << 10U)),
        tensor_bytes_left_(8 * sizes.file_bytes + (64U << 10U)) {}

  Result<PthValue> make() { return value(pickle_.root(), 0); }

 private:
  Result<PthValue> value(const PickleNode& node, std::size_t depth) {
    if (depth > kDepthMax) {
      return bad_weights(fmt::format("it is nested deeper than {}, or within itself", kDepthMax));
    }
    if (values_left_ == 0) return bad_weights("it repeats its own parts too often");
    --values_left_;
    switch (node.kind) {
      case PickleKind::kNone:
        return PthValue();
      case PickleKind::kBool:
        return PthValue{node.integer != 0};
      case PickleKind::kInteger:
        return PthValue{node.integer};
      case PickleKind::kNumber:
        return PthValue{node.number};
      case PickleKind::kText:
      case PickleKind::kGlobal: {
        OUTLAST_TRY_ASSIGN(std::string copied, text(node.text));
        return PthValue{std::move(copied)};
      }
      case PickleKind::kList:
      case PickleKind::kTuple:
        return list(node, depth);
      case PickleKind::kDict:
        return dict(node, depth);
      case PickleKind::kTensor: {
        OUTLAST_TRY_ASSIGN(WeightTensor tensor,
                           make_tensor(pickle_, node, storages_, &tensor_bytes_left_));
        return PthValue{std::move(tensor)};
      }
      case PickleKind::kLong:
        return bad_weights("it has a whole number of more than 64 bits");
      case PickleKind::kStorage:
        break;
    }
    return bad_weights("it has a storage that is in no tensor");
  }

  Result<std::string> text(std::string_view text) {
    if (text.size() > text_bytes_left_) return bad_weights("it repeats its texts too often");
    text_bytes_left_ -= text.size();
    if (!is_utf8(text))
      return bad_weights(fmt::format("the text {} is not UTF-8", shown_name(text)));
    return std::string(text);
  }

  Result<PthValue> list(const PickleNode& node, std::size_t depth) {
    PthList made = {.items = {}, .is_tuple = node.kind == PickleKind::kTuple};
    for (const NodeId id : pickle_.items(node)) {
      OUTLAST_TRY_ASSIGN(PthValue item, value(pickle_.at(id), depth + 1));
      made.items.push_back(std::move(item));
    }
    return PthValue{std::move(made)};
  }

  Result<PthKey> key(const PickleNode& node) {
    if (node.kind == PickleKind::kInteger) return PthKey(node.integer);
    if (node.kind != PickleKind::kText) {
      return bad_weights("a key of a dictionary is neither a text nor a whole number of 64 bits");
    }
    OUTLAST_TRY_ASSIGN(std::string copied, text(node.text));
    return PthKey(std::move(copied));
  }

  // A key that comes again changes the value, not the place.
  Result<PthValue> dict(const PickleNode& node, std::size_t depth) {
    PthDict made;
    std::map<PthKey, std::size_t> places;
    const std::span<const NodeId> items = pickle_.items(node);
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      OUTLAST_TRY_ASSIGN(PthKey name, key(pickle_.at(items[i])));
      Result<PthValue> held = value(pickle_.at(items[i + 1]), depth + 1);
      if (!held) return held.error().while_doing(key_shown(name));
      const auto [place, is_new] = places.emplace(name, made.entries.size());
      if (is_new) {
        made.entries.push_back({.key = std::move(name), .value = *std::move(held)});
      } else {
        made.entries[place->second].value = *std::move(held);
      }
    }
    return PthValue{std::move(made)};
  }

  static std::string key_shown(const PthKey& key) {
    if (const auto* text = std::get_if<std::string>(&key)) return shown_name(*text);
    return std::to_string(std::get<std::int64_t>(key));
  }

  const Pickle& pickle_;
  const FindStorage& storages_;
  std::uint64_t values_left_ = 0;
  std::uint64_t text_bytes_left_ = 0;
  std::uint64_t tensor_bytes_left_ = 0;
};

Result<PthValue> parse_zip(BytesView file) {
  constexpr std::string_view kPickleName = "/data.pkl";
  OUTLAST_TRY_ASSIGN(const auto entries, read_stored_zip(file));
  const auto pickled = std::ranges::find_if(entries, [&](const auto& entry) {
    return entry.first.ends_with(kPickleName) &&
           entry.first.find('/') == entry.first.size() - kPickleName.size();
  });
  if (pickled == entries.end()) {
    return bad_weights("it is a zip file without the entry NAME/data.pkl that torch.save() writes");
  }
  const std::string folder(
      pickled->first.substr(0, pickled->first.size() - kPickleName.size() + 1));
  const auto order = entries.find(folder + "byteorder");
  if (order != entries.end() && as_text(order->second) != "little") {
    return bad_weights(fmt::format("its byte order is {}, and only \"little\" can be read here",
                                   shown_name(as_text(order->second))));
  }
  const FindStorage storages = [&](const StorageRef& ref) -> Result<BytesView> {
    const auto found = entries.find(fmt::format("{}data/{}", folder, ref.key));
    if (found == entries.end()) {
      return bad_weights(fmt::format("storage {} is not in the file", shown_name(ref.key)));
    }
    const std::uint64_t expected = ref.elements * ref.element_bytes();
    if (found->second.size() >= expected) return found->second;
    return bad_weights(fmt::format("storage {} has {} bytes and {} are expected",
                                   shown_name(ref.key), found->second.size(), expected));
  };
  const BytesView bytes = pickled->second;
  OUTLAST_TRY_ASSIGN(const Pickle pickle,
                     read_pickle(bytes, static_cast<std::uint64_t>(bytes.data() - file.data())));
  return TreeMaker(pickle, storages, {.file_bytes = file.size(), .pickle_bytes = pickle.bytes()})
      .make();
}

Result<PthValue> parse_legacy(BytesView file) {
  OUTLAST_TRY_ASSIGN(const LegacyPth legacy, read_legacy_pth(file));
  return TreeMaker(legacy.object, legacy.storages,
                   {.file_bytes = file.size(), .pickle_bytes = legacy.object.bytes()})
      .make();
}

Result<void> write_archive(sys::FileSystem& files, const std::string& path,
                           const PickledValue& pickled) {
  std::vector<ZipEntry> entries = {
      {.name = "archive/data.pkl", .content = pickled.pickle},
      {.name = "archive/byteorder", .content = as_bytes("little")},
  };
  for (const WeightTensor* tensor : pickled.tensors) {
    entries.push_back(
        {.name = fmt::format("archive/data/{}", entries.size() - 2), .content = tensor->data});
  }
  entries.push_back({.name = "archive/version", .content = as_bytes("3\n")});
  const ZipPlan plan = plan_stored_zip(entries);
  std::vector<BytesView> pieces;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    pieces.emplace_back(plan.headers[i]);
    pieces.push_back(entries[i].content);
  }
  pieces.emplace_back(plan.end);
  return write_whole(files, path, pieces);
}

template <typename Value>
Result<void> write_any(sys::FileSystem& files, const std::string& path, const Value& value) {
  Result<PickledValue> pickled = pickle_value(value);
  if (!pickled) return pickled.error().while_doing("write weights to " + path);
  return write_archive(files, path, *pickled).while_doing("write weights to " + path);
}

}  // namespace

bool may_be_pth(BytesView file) {
  const std::string_view text = as_text(file);
  return text.starts_with(kZipBegins) || text.starts_with(kPickleBegins);
}

Result<PthValue> parse_pth(BytesView file) {
  if (as_text(file).starts_with(kZipBegins)) return parse_zip(file);
  if (as_text(file).starts_with(kPickleBegins)) return parse_legacy(file);
  return bad_weights(
      fmt::format("its {} bytes begin neither as a zip file nor as a pickle, as "
                  "PyTorch's files do",
                  file.size()));
}

Result<PthValue> read_pth(sys::FileSystem& files, const std::string& path) {
  return with_file_bytes(files, path, parse_pth).while_doing("read weights of " + path);
}

Result<void> write_pth(sys::FileSystem& files, const std::string& path, const PthValue& value) {
  return write_any(files, path, value);
}

Result<void> write_pth(sys::FileSystem& files, const std::string& path, const Weights& weights) {
  return write_any(files, path, weights);
}

}  // namespace outlast::trainers
