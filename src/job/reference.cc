#include <fmt/core.h>

#include <string>
#include <string_view>

#include "job/fields.h"
#include "job/schema.h"

namespace outlast::job {
namespace {

constexpr std::string_view kIntroduction =
    R"(# The job file

Every key that a job file can have. `outlast job check JOB.yaml` checks one, says what is wrong and
where, and prints the complete job with the defaults filled in. An unknown key is a mistake, never
ignored. Editors that know JSON Schema can use [job.schema.json](job.schema.json): with the YAML
language server, put `# yaml-language-server: $schema=PATH/job.schema.json` on the first line.

So far outlast checks jobs; the commands that run them are not built yet, and this page says what the
keys mean to them.

This page is made from the table that the reader uses (`src/job/fields.cc`), and a test compares the
two.

- **Durations**: `90s`, `30m`, `12h`, `1h30m`, `2d`; from `1s` to `3650d`.
- **Sizes**: `50GiB` (powers of 1024), `100GB` (powers of 1000).
- **Money**: `5 USD`, `0.35 USD`: an amount with up to six decimals, a space, and `USD`.
- **Text** is kept as it is written: `010` stays `010`, `no` stays `no`. Anchors, aliases, tags and
  merge keys are not part of a job file, and no key may stand twice.
)";

constexpr std::string_view kTableHead = "\n| key | must be | default | |\n|---|---|---|---|\n";

std::string default_cell(const Field& field) {
  if (field.required) return "required";
  if (field.required_by != 0) {
    return fmt::format("required for {}", join_clouds(field.required_by, "and"));
  }
  if (!field.default_yaml.empty()) return fmt::format("`{}`", field.default_yaml);
  return std::string(field.if_absent);
}

// A '<' would begin a tag, which nobody sees.
std::string plain_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '<') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string record_table(const Record& record) {
  std::string table(kTableHead);
  for (const Field& field : record.fields) {
    std::string doc(field.doc);
    if (field.taken_by != kEveryCloud) {
      doc = fmt::format("({}) {}", join_clouds(field.taken_by, "and"), doc);
    }
    table += fmt::format("| `{}` | {} | {} | {} |\n", field.key,
                         plain_cell(expectation(*field.type)), default_cell(field), doc);
  }
  return table;
}

}  // namespace

std::string reference_markdown() {
  std::string page(kIntroduction);
  page += "\n## A job\n" + record_table(job_record());
  for (const Field& field : job_record().fields) {
    const ValueType* const type = field.type->item == nullptr ? field.type : field.type->item;
    if (type->record == nullptr) continue;
    page += fmt::format("\n## `{}`\n\n{}\n", field.key, field.doc) + record_table(*type->record);
  }
  return page;
}

}  // namespace outlast::job
