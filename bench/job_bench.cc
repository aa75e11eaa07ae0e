#include <yaml.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "bench/harness.h"
#include "job/spec.h"

namespace outlast::bench {
namespace {

constexpr std::size_t kFiles = 100;

std::string example_job() {
  std::ifstream in(OUTLAST_SOURCE_DIR "/examples/cifar10.yaml", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// All that libyaml does by itself: events, thrown away.
std::size_t scan_events(std::string_view text) {
  yaml_parser_t parser;
  OUTLAST_CHECK(yaml_parser_initialize(&parser) == 1, "yaml_parser_initialize");
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  std::size_t events = 0;
  for (bool more = true; more; ++events) {
    yaml_event_t event;
    OUTLAST_CHECK(yaml_parser_parse(&parser, &event) == 1, "yaml_parser_parse");
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return events;
}

}  // namespace

void add_job_cases(Cases& cases) {
  const auto text = std::make_shared<const std::string>(example_job());
  OUTLAST_CHECK(job::read_spec(*text).spec.has_value(), "the example is not a job file");
  cases.push_back({.name = "job-file",
                   .what = "read_spec() of examples/cifar10.yaml",
                   .baseline_name = "libyaml's events alone",
                   .bytes = static_cast<double>(text->size() * kFiles),
                   .run =
                       [text] {
                         for (std::size_t i = 0; i < kFiles; ++i) {
                           keep(job::read_spec(*text).spec.has_value());
                         }
                       },
                   .baseline =
                       [text] {
                         for (std::size_t i = 0; i < kFiles; ++i) keep(scan_events(*text));
                       }});
}

}  // namespace outlast::bench
