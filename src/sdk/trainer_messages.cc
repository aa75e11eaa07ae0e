#include "sdk/trainer_messages.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/agent_link.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {

std::string progress_message(const Progress& progress) {
  std::string text = R"({"type":"progress","step":)" + std::to_string(progress.step);
  if (progress.total) text += R"(,"total":)" + std::to_string(*progress.total);
  if (progress.epoch && std::isfinite(*progress.epoch)) {
    text += R"(,"epoch":)";
    append_json_number(text, *progress.epoch);
  }
  return text + "}";
}

std::string saved_message(double stall) {
  std::string message = R"({"type":"saved","seconds":)";
  append_json_number(message, stall);
  return message + "}";
}

std::vector<std::string> metrics_messages(const std::map<std::string, double>& values) {
  constexpr std::string_view kBegin = R"({"type":"metrics","values":{)";
  constexpr std::string_view kEnd = "}}";
  constexpr std::size_t kRoom = kMessageMax - kBegin.size() - kEnd.size() - 1;
  std::vector<std::string> messages;
  std::string inside;
  const auto finish = [&] {
    if (inside.empty()) return;
    messages.push_back(std::string(kBegin).append(inside).append(kEnd));
    inside.clear();
  };
  for (const auto& [name, value] : values) {
    if (!std::isfinite(value) || !is_utf8(name)) continue;
    std::string entry;
    append_json_string(entry, name);
    entry += ':';
    append_json_number(entry, value);
    if (entry.size() > kRoom) continue;
    if (inside.size() + entry.size() > kRoom) finish();
    if (!inside.empty()) inside += ',';
    inside += entry;
  }
  finish();
  return messages;
}

}  // namespace outlast::sdk
