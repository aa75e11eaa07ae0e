#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "drill/report.h"

// What is done to machines, and when. Pure.
namespace outlast::drill {

// By what a machine hears of its end.
enum class Source { kGce, kEc2, kAzure, kSlurm, kSignal, kFile, kKill };
std::string_view to_string(Source source);  // "gce", "ec2", …
// Nothing if there is none of this name.
std::optional<Source> parse_source(std::string_view name);
// Whether it can take a notice back: a signal that was sent stays sent.
bool can_withdraw(Source source);
// How long it takes at most until it is heard: what is polled.
Duration heard_after(Source source);

// One trouble, on a machine of its own unless the one before it was withdrawn.
struct Planned {
  Duration after = {};  // of training on this machine, or since the withdrawal
  Trouble trouble = Trouble::kNotice;

  friend bool operator==(const Planned&, const Planned&) = default;
};

inline constexpr std::uint64_t kPlannedMax = 1000;

// "5s, 8s withdrawn, 4s late, 6s kill, 6s mid-save". Without a word it is what `source` does: a
// notice, or the end without one. kInvalidArgument with what is wrong.
Result<std::vector<Planned>> parse_schedule(std::string_view text, Source source);

// As many, at equal distances in a job that trains for so long: early enough that all of them come
// about, also where a machine trains on until it hears of its end, or until that comes. Of several
// plain ends the middle one comes in the middle of a save, where most can go wrong.
std::vector<Planned> even_schedule(std::uint64_t count, Duration training, Source source);

// As many, each after a time that is drawn: what comes by chance comes at such distances.
std::vector<Planned> poisson_schedule(std::uint64_t count, Duration mean, Source source,
                                      Random& random);

}  // namespace outlast::drill
