#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "checkpoint/compare.h"
#include "checkpoint/compare_tensors.h"
#include "checkpoint/item_reader.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

using checkpoint::ItemChange;
using checkpoint::ItemKind;
using checkpoint::Tensor;
using checkpoint::TensorChange;

// An item that differs, and for safetensors files the tensors in it that do.
struct Difference {
  ItemChange item = {};
  std::optional<std::vector<TensorChange>> tensors = {};
};

struct TwoEntries {
  job::LogEntry before = {};
  job::LogEntry after = {};
};

// Those that were asked for, or the last two.
Result<TwoEntries> find_two(const Invocation& invocation, OpenJob& job) {
  if (!invocation.positionals.empty()) {
    OUTLAST_TRY_ASSIGN(job::LogEntry before, job.checkpoints->find(invocation.number_at(0), {}));
    OUTLAST_TRY_ASSIGN(job::LogEntry after, job.checkpoints->find(invocation.number_at(1), {}));
    return TwoEntries{.before = std::move(before), .after = std::move(after)};
  }
  OUTLAST_TRY_ASSIGN(std::vector<job::LogEntry> entries, job.checkpoints->list({}));
  if (entries.size() < 2) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has {}: it takes two to differ", job.name(),
                             entries.empty() ? "no checkpoint" : "only one checkpoint"));
  }
  return TwoEntries{.before = std::move(entries[entries.size() - 2]),
                    .after = std::move(entries.back())};
}

bool is_file(const checkpoint::PlacedItem& placed) {
  return placed.item != nullptr && placed.item->kind == ItemKind::kFile;
}

Result<std::vector<Difference>> find_differences(const checkpoint::LoadedCheckpoint& before,
                                                 const checkpoint::LoadedCheckpoint& after,
                                                 OpenJob& job) {
  std::vector<Difference> differences;
  for (ItemChange& change : checkpoint::compare(before, after)) {
    Difference one = {.item = std::move(change)};
    if (is_file(one.item.before) && is_file(one.item.after) && one.item.content_differs) {
      OUTLAST_TRY_ASSIGN(
          one.tensors, checkpoint::compare_tensors(job.checkpoints->reader_parts(), one.item, {}));
    }
    differences.push_back(std::move(one));
  }
  return differences;
}

std::string_view word_for(const ItemChange& change) {
  if (change.is_added()) return "added";
  if (change.is_removed()) return "removed";
  return change.content_differs ? "changed" : "mode";
}

std::string_view word_for(const TensorChange& change) {
  if (!change.before) return "added";
  if (!change.after) return "removed";
  return change.type_differs ? "type" : "changed";
}

std::string details(const ItemChange& change) {
  if (change.is_added()) return format_bytes_short(change.after.item->size);
  if (change.is_removed()) return format_bytes_short(change.before.item->size);
  std::string text;
  if (change.kind_differs) {
    text = fmt::format("was a {}, is a {}", to_string(change.before.item->kind),
                       to_string(change.after.item->kind));
  } else if (!change.after.item->target.empty()) {
    text = fmt::format("led to {}, leads to {}", printable(change.before.item->target),
                       printable(change.after.item->target));
  } else if (change.content_differs) {
    text = fmt::format("{} of {}", format_bytes_short(change.changed_bytes),
                       format_bytes_short(change.after.item->size));
  }
  if (change.mode_differs && !change.kind_differs) {
    text += fmt::format("{}{:04o} to {:04o}", text.empty() ? "" : ", mode ",
                        change.before.item->mode, change.after.item->mode);
  }
  return text;
}

std::string tensor_line(const TensorChange& change) {
  const auto name = [](const Tensor& tensor) { return printable_whole(tensor.name); };
  if (change.before && change.after) {
    return fmt::format("  {:8}  {}  {}\n", word_for(change), name(*change.after),
                       change.type_differs ? fmt::format("{} to {}", format_type(*change.before),
                                                         format_type(*change.after))
                                           : format_type(*change.after));
  }
  const Tensor tensor = change.after ? *change.after : change.before.value_or(Tensor());
  return fmt::format("  {:8}  {}  {}\n", word_for(change), name(tensor), format_type(tensor));
}

Json tensor_json(const TensorChange& change) {
  Json json = {{"change", word_for(change)}};
  const auto type_json = [](const Tensor& tensor) {
    return Json{{"dtype", to_string(tensor.dtype)}, {"shape", tensor.shape}};
  };
  if (change.before) json["before"] = type_json(*change.before);
  if (change.after) json["after"] = type_json(*change.after);
  json["name"] = change.after ? change.after->name : change.before.value_or(Tensor()).name;
  return json;
}

Json side_json(const checkpoint::PlacedItem& placed) {
  return {{"kind", to_string(placed.item->kind)},
          {"size", placed.item->size},
          {"mode", fmt::format("{:04o}", placed.item->mode)}};
}

Json difference_json(const Difference& difference) {
  const ItemChange& item = difference.item;
  Json json = {
      {"path", item.path}, {"change", word_for(item)}, {"changed_bytes", item.changed_bytes}};
  if (!item.is_added()) json["before"] = side_json(item.before);
  if (!item.is_removed()) json["after"] = side_json(item.after);
  if (difference.tensors) {
    json["tensors"] = Json::array();
    for (const TensorChange& tensor : *difference.tensors) {
      json["tensors"].push_back(tensor_json(tensor));
    }
  }
  return json;
}

void print_differences(const std::vector<Difference>& differences, const TwoEntries& two,
                       const Terminal& terminal) {
  std::uint64_t bytes = 0;
  std::string text;
  for (const Difference& difference : differences) {
    text += fmt::format("{:8}  {}  {}\n", word_for(difference.item),
                        printable_whole(difference.item.path), details(difference.item));
    for (const TensorChange& tensor : difference.tensors.value_or(std::vector<TensorChange>())) {
      text += tensor_line(tensor);
    }
    bytes += difference.item.changed_bytes;
  }
  terminal.print(text);
  terminal.note(differences.empty()
                    ? fmt::format("checkpoints {} and {} have the same content", two.before.seq,
                                  two.after.seq)
                    : fmt::format("from checkpoint {} to {}: {} of {} differ", two.before.seq,
                                  two.after.seq, format_bytes_short(bytes),
                                  format_bytes_short(two.after.checkpoint.bytes)));
}

Result<ExitCode> run_ckpt_diff(const Invocation& invocation, Context& context) {
  if (invocation.positionals.size() == 1) {
    return wrong_value(invocation, context, "give two checkpoints to compare, or none");
  }
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  OUTLAST_TRY_ASSIGN(const TwoEntries two, find_two(invocation, job));
  const auto load = [&job](const job::LogEntry& entry) {
    return job.checkpoints->load(entry, {}).while_doing(
        fmt::format("look into checkpoint {}", entry.seq));
  };
  OUTLAST_TRY_ASSIGN(const checkpoint::LoadedCheckpoint before, load(two.before));
  OUTLAST_TRY_ASSIGN(const checkpoint::LoadedCheckpoint after, load(two.after));
  OUTLAST_TRY_ASSIGN(const std::vector<Difference> differences,
                     find_differences(before, after, job));
  if (context.terminal.json()) {
    Json list = Json::array();
    for (const Difference& difference : differences) list.push_back(difference_json(difference));
    context.terminal.print_json(
        {{"before", two.before.seq}, {"after", two.after.seq}, {"differences", list}});
  } else {
    print_differences(differences, two, context.terminal);
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_diff_command() {
  const auto seq = [](std::string name, std::string help) {
    return PositionalSpec{
        .name = std::move(name), .help = std::move(help), .required = false, .number = true};
  };
  return {
      .path = {"ckpt", "diff"},
      .group = "Checkpoints",
      .summary = "Say what changed between two checkpoints",
      .description =
          {"Names every file that was added, removed or changed from one checkpoint to another, "
           "with how many of its bytes are in chunks that the first one does not have. For "
           "safetensors files it names the tensors, too. Without SEQ1 and SEQ2 it compares the "
           "last two. Times that differ are no difference."},
      .positionals = {seq("SEQ1", "The one before, by its number in 'ckpt ls'"),
                      seq("SEQ2", "The one after")},
      .options = with_job_options({}),
      .examples = {{.command = "outlast ckpt diff --root s3://my-bucket/training --job j1",
                    .does = "See what the last step changed"},
                   {.command = "outlast ckpt diff --root /mnt/r --job j1 3 12",
                    .does = "Compare two of them"}},
      .run = run_ckpt_diff,
  };
}

}  // namespace outlast::cli
