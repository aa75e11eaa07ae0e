#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace outlast::drill {

// One line that 'outlast run --json' wrote about what happened to it.
struct AgentEvent {
  WallTime time = {};
  std::string kind = {};
  std::string level = {};
  std::string sentence = {};
  // Its facts, by name.
  std::map<std::string, std::string> texts = {};
  std::map<std::string, double> numbers = {};
};

// Takes the standard error of 'outlast run --json' apart: events, and between them what the trainer
// wrote there, which need not end its lines before an event comes. Confined to its owner.
class AgentLines {
 public:
  std::function<void(const AgentEvent&)> event = {};
  // With the line's end, if it had one.
  std::function<void(std::string_view)> other = {};

  void feed(std::string_view piece);
  // What has no end, at the end.
  void finish();

 private:
  static constexpr std::size_t kLineMax = 1U << 20U;
  void end_line(char end);

  std::string line_;
};

}  // namespace outlast::drill
