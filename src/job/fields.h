#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "job/place.h"
#include "job/scalars.h"

// The one table of what a job file may contain. The reader, the suggestions for misspelled keys,
// the complete job that `outlast job check` prints, the JSON Schema and the reference are all made
// from it, so a key is added here (and to Spec and its JSON) and nowhere else. Immutable;
// thread-safe.
namespace outlast::job {

struct Record;

// A kind of value.
struct ValueType {
  enum class Shape { kScalar, kCount, kList, kMap, kRecord };

  Shape shape = Shape::kScalar;
  // The end of "'key' must be …". Empty where the words say it all.
  std::string_view expected = {};
  // Words that are taken as they are. For a scalar without `read`, the only ones; for a record,
  // words that stand for one with every default.
  std::span<const std::string_view> words = {};
  ScalarReader read = nullptr;
  // What `read` accepts, or a little more, as a regular expression for the JSON Schema.
  std::string_view pattern = {};
  // Counts: the limits.
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  // Lists and maps: what is in them. No list may hold the same value twice.
  const ValueType* item = nullptr;
  // Maps: what the keys may be.
  ScalarReader read_key = nullptr;
  std::string_view key_expected = {};
  std::string_view key_pattern = {};
  // Lists: may be empty.
  bool may_be_empty = true;
  const Record* record = nullptr;
};

// A set of clouds, one bit each.
using CloudSet = std::uint8_t;
constexpr CloudSet cloud_bit(Cloud cloud) {
  return static_cast<CloudSet>(1U << static_cast<unsigned>(cloud));
}
inline constexpr CloudSet kEveryCloud = 0x3F;

struct Field {
  std::string_view key = {};
  const ValueType* type = nullptr;
  bool required = false;
  // What stands for a key that is not given, as YAML; empty for nothing.
  std::string_view default_yaml = {};
  // What happens where there is neither key nor default.
  std::string_view if_absent = {};
  // One or two sentences for the reference and for editors.
  std::string_view doc = {};
  // In a record that depends on the cloud: which take this key, and which cannot do without.
  CloudSet taken_by = kEveryCloud;
  CloudSet required_by = 0;
};

struct Record {
  std::string_view what = {};  // "a job", "an entry of places"
  std::span<const Field> fields = {};
  // The keys depend on the value of the key `cloud`.
  bool by_cloud = false;
};

// The word that means: nothing, on purpose. Only where a type lists it.
inline constexpr std::string_view kNone = "none";

const Record& job_record();
const Record& place_record();

// What `type` accepts, as the end of "must be …".
std::string expectation(const ValueType& type);
// "always, prefer or never".
std::string join_words(std::span<const std::string_view> words, std::string_view conjunction);
// The names of the clouds in a set, in their order: "gcp, aws and azure".
std::string join_clouds(CloudSet clouds, std::string_view conjunction);

}  // namespace outlast::job
