#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace outlast::stand_in {

// Something that a stand-in can be told to do: what a line of a script says after its time.
struct Happening {
  std::string word = {};    // "preempt": one of happenings_of() its cloud
  std::string choice = {};  // of the row's choices
  int status = 0;
  Duration time = {};
  // Of a fault: which requests meet it.
  std::string path = {};  // only those for what begins so; "": all
  bool once = false;      // only the next one
  Duration lasts = Duration::max();
};

// A row of the table of all there is.
struct HappeningRow {
  std::string_view cloud = {};  // "": every cloud
  std::string_view word = {};
  std::string_view does = {};                      // a phrase; no full stop
  std::span<const std::string_view> choices = {};  // one of them must follow, unless empty
  bool takes_status = false;
  bool takes_time = false;
  std::optional<Duration> time = {};  // if none is given; without it one must be
  bool is_fault = false;
};

// "preempt [TIME]": how it is written.
std::string usage(const HappeningRow& row);

// The rows of a cloud.
std::vector<HappeningRow> happenings_of(std::string_view cloud);
// One of them, or nullptr: of `rows`, which must outlive it.
const HappeningRow* find_row(std::span<const HappeningRow> rows, std::string_view word);

// "fail 503 on /latest/api for 5s". kInvalidArgument, as a sentence that says what may stand there,
// for anything that the cloud's rows do not allow.
Result<Happening> parse_happening(std::string_view text, std::string_view cloud);
// The same as text again, with its times written out.
std::string format_happening(const Happening& happening, std::string_view cloud);

}  // namespace outlast::stand_in
