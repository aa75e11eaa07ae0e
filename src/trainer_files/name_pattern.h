#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What names of files tell: which trainer, how far, how good.
namespace outlast::trainer_files {

struct NameFacts {
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> epoch = {};
  std::map<std::string, double> metrics = {};

  friend bool operator==(const NameFacts&, const NameFacts&) = default;
};

// What a name tells if it is one of this pattern, all of it. In a pattern
//   *            is any text without '/', also none; {*} one without '.' too, and not empty
//   {step}       is a whole number: how many steps the trainer has done; {epoch} the same in epochs
//   {any other}  is a number, "0.1234" or "-1e-5": a metric of that name; {} one that means nothing
// and everything else is itself. A name that can be read in two ways is read with a short '*'.
std::optional<NameFacts> match_name(std::string_view pattern, std::string_view name);

// Many patterns, for many names: of most names the last character tells that nearly none can fit.
// Immutable after construction.
class NamePatterns {
 public:
  // What they view must outlive this.
  explicit NamePatterns(std::vector<std::string_view> patterns);

  struct Match {
    std::size_t index = 0;  // of the pattern
    NameFacts facts = {};
  };
  // The first pattern that fits.
  std::optional<Match> first_match(std::string_view name) const;
  // The indices of all that fit.
  std::vector<std::size_t> all_matches(std::string_view name) const;

 private:
  const std::vector<std::size_t>& candidates(std::string_view name) const;

  std::vector<std::string_view> patterns_;
  std::array<std::vector<std::size_t>, 256> by_last_character_;
};

// What "epoch=03-step=500-val_loss=0.12.ckpt" says of itself: any "key=number" in a name. Keys
// "step", "global_step" and "epoch" are what they say, all others are metrics.
NameFacts facts_in_name(std::string_view name);

// Takes over from `other` what `facts` lacks; of two steps or epochs the larger.
void merge_facts(const NameFacts& other, NameFacts& facts);

// Whether something is called so only as long as it is being written: "tmp…", "….tmp", "….part",
// "….incomplete", ".~…" and their like.
bool is_temporary_name(std::string_view name);

}  // namespace outlast::trainer_files
