#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drill/report.h"

// Numbers and events in the words of the page.
namespace outlast::report {

// What stands where a fact is not known.
inline constexpr std::string_view kUnknown = "–";

// "1.2s", "4m12s": rounded for people.
std::string seconds_text(double seconds);
std::string seconds_text(const std::optional<double>& seconds);
// "1m30s": to the millisecond.
std::string exact_seconds_text(double seconds);

// "1 step", "12 steps".
std::string count_text(std::uint64_t count, std::string_view thing);
// "step 120 (checkpoint 3)"; without a step "checkpoint 3".
std::string state_text(std::uint64_t checkpoint, const std::optional<std::uint64_t>& step);

// "notice, 30s", "killed without a word", …
std::string trouble_text(const drill::Injection& injection);
// Whether it meant the end of the machine.
bool is_preemption(drill::Trouble trouble);
// Whether there was something to be heard.
bool is_said(drill::Trouble trouble);

inline constexpr std::string_view kNothing = "nothing";
// kNothing, "12 steps, 3.4s", "3.4s"; kUnknown if neither is known.
std::string lost_text(const std::optional<std::uint64_t>& steps,
                      const std::optional<double>& seconds);

}  // namespace outlast::report
