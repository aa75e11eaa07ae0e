#include "job/spec_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/yaml.h"
#include "job/fields.h"
#include "job/spec.h"
#include "job/spec_json.h"

namespace outlast::job {
namespace {

using Shape = ValueType::Shape;

// Lists that are longer get a line for each entry.
constexpr std::size_t kFlowLengthMax = 72;
// Notes stand in one column, unless a line is longer than this.
constexpr std::size_t kNoteColumnMax = 48;
constexpr std::size_t kIndentStep = 2;

struct TextLine {
  std::string text;
  bool defaulted = false;
};

std::string flow_list(const Json& list) {
  std::string text = "[";
  for (const Json& item : list) {
    if (text.size() > 1) text += ", ";
    text += yaml_scalar(item.get<std::string>());
  }
  return text + "]";
}

class SpecWriter {
 public:
  explicit SpecWriter(std::span<const std::string> defaulted)
      : defaulted_(defaulted.begin(), defaulted.end()) {}

  // `lead` goes before the first line instead of its indentation: "- " for an entry of a list.
  void write_record(const Record& record, const Json& object, std::size_t indent,
                    const std::string& path, std::string lead);
  std::string finish() &&;

 private:
  void write_field(const Field& field, const Json& value, std::size_t indent,
                   const std::string& path, const std::string& start);
  void write_list(const Json& list, const ValueType& item, std::size_t indent,
                  const std::string& path, const std::string& start);
  void add(std::string text, const std::string& path) {
    lines_.push_back({std::move(text), is_defaulted(path)});
  }
  // It, or what it is in, was not given.
  bool is_defaulted(std::string_view path) const;

  std::set<std::string, std::less<>> defaulted_;
  std::vector<TextLine> lines_;
};

bool SpecWriter::is_defaulted(std::string_view path) const {
  for (;;) {
    if (defaulted_.contains(path)) return true;
    const std::size_t end = path.find_last_of(".[");
    if (end == std::string_view::npos) return false;
    path = path.substr(0, end);
  }
}

void SpecWriter::write_record(const Record& record, const Json& object, std::size_t indent,
                              const std::string& path, std::string lead) {
  for (const Field& field : record.fields) {
    const auto value = object.find(field.key);
    if (value == object.end()) continue;  // a key that the place's cloud does not take
    write_field(field, *value, indent, fmt::format("{}{}", path, field.key), lead);
    lead = std::string(indent, ' ');
  }
}

void SpecWriter::write_field(const Field& field, const Json& value, std::size_t indent,
                             const std::string& path, const std::string& start) {
  const ValueType& type = *field.type;
  const std::string key = fmt::format("{}{}:", start, field.key);
  if (value.is_null() && !field.default_yaml.empty()) {
    add(fmt::format("{} {}", key, kNone), path);
  } else if (value.is_null()) {
    lines_.push_back({fmt::format("{}# {}: {}", start, field.key, field.if_absent)});
  } else if (type.shape == Shape::kCount) {
    add(fmt::format("{} {}", key, value.get<std::uint64_t>()), path);
  } else if (type.shape == Shape::kScalar) {
    add(fmt::format("{} {}", key, yaml_block(value.get<std::string>(), indent + kIndentStep)),
        path);
  } else if (type.shape == Shape::kRecord) {
    add(key, path);
    write_record(*type.record, value, indent + kIndentStep, path + ".",
                 std::string(indent + kIndentStep, ' '));
  } else if (type.shape == Shape::kList) {
    write_list(value, *type.item, indent + kIndentStep, path, key);
  } else if (value.empty()) {
    add(key + " {}", path);
  } else {
    add(key, path);
    for (const auto& [name, text] : value.items()) {
      add(fmt::format("{}{}: {}", std::string(indent + kIndentStep, ' '), yaml_scalar(name),
                      yaml_scalar(text.get<std::string>())),
          path);
    }
  }
}

void SpecWriter::write_list(const Json& list, const ValueType& item, std::size_t indent,
                            const std::string& path, const std::string& start) {
  const bool records = item.shape == Shape::kRecord;
  if (!records) {
    const std::string flow = fmt::format("{} {}", start, flow_list(list));
    if (flow.size() <= kFlowLengthMax) return add(flow, path);
  }
  add(start, path);
  const std::string lead = std::string(indent, ' ') + "- ";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (records) {
      write_record(*item.record, list[i], indent + kIndentStep, fmt::format("{}[{}].", path, i),
                   lead);
    } else {
      add(lead + yaml_scalar(list[i].get<std::string>()), path);
    }
  }
}

std::string SpecWriter::finish() && {
  std::size_t column = 0;
  for (const TextLine& line : lines_) {
    if (line.defaulted) column = std::max(column, std::min(line.text.size(), kNoteColumnMax));
  }
  std::string text;
  for (const TextLine& line : lines_) {
    text +=
        line.defaulted ? fmt::format("{:{}}  # default\n", line.text, column) : line.text + "\n";
  }
  return text;
}

}  // namespace

std::string spec_text(const Spec& spec, std::span<const std::string> defaulted) {
  SpecWriter writer(defaulted);
  writer.write_record(job_record(), to_json(spec), 0, "", "");
  return std::move(writer).finish();
}

}  // namespace outlast::job
