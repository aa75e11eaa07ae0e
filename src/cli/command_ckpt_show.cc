#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
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

using checkpoint::Item;
using checkpoint::ItemKind;

bool has_content(const Item& item) {
  return item.kind == ItemKind::kFile || item.kind == ItemKind::kRegion;
}

bool has_mode(const Item& item) {
  return item.kind == ItemKind::kFile || item.kind == ItemKind::kFolder;
}

// An item as it is shown; with --tensors also what is in a safetensors file.
struct ShownItem {
  const Item* item = nullptr;
  std::optional<checkpoint::Safetensors> tensors = {};
};

Result<std::vector<ShownItem>> look_at_items(const checkpoint::LoadedCheckpoint& loaded,
                                             bool tensors, OpenJob& job) {
  std::map<const Item*, ShownItem> shown;
  for (const checkpoint::Manifest& manifest : loaded.manifests) {
    for (const Item& item : manifest.items) {
      ShownItem& one = shown[&item];
      one.item = &item;
      if (!tensors || item.kind != ItemKind::kFile) continue;
      checkpoint::ItemReader reader(job.checkpoints->reader_parts(),
                                    {.manifest = &manifest, .item = &item});
      OUTLAST_TRY_ASSIGN(one.tensors, checkpoint::read_tensors(reader, {}));
    }
  }
  std::vector<ShownItem> in_order;
  for (const Item* item : loaded.all_items()) in_order.push_back(std::move(shown[item]));
  return in_order;
}

Json item_json(const ShownItem& shown) {
  const Item& item = *shown.item;
  Json json = {{"path", item.path}, {"kind", checkpoint::to_string(item.kind)}};
  if (has_content(item)) {
    json["size"] = item.size;
    json["chunks"] = item.chunks.size();
  }
  if (has_mode(item)) {
    json["mode"] = fmt::format("{:04o}", item.mode);
    json["modified"] = format_rfc3339(item.modified);
  }
  if (!item.target.empty()) json["target"] = item.target;
  if (shown.tensors) {
    json["tensors"] = Json::array();
    for (const checkpoint::Tensor& tensor : shown.tensors->tensors) {
      json["tensors"].push_back({{"name", tensor.name},
                                 {"dtype", checkpoint::to_string(tensor.dtype)},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.end - tensor.begin}});
    }
  }
  return json;
}

std::string item_text(const ShownItem& shown) {
  const Item& item = *shown.item;
  const std::string target =
      item.target.empty() ? std::string() : fmt::format(" -> {}", printable_whole(item.target));
  std::string text = fmt::format(
      "{:8}  {:4}  {:>14}  {:20}  {}{}\n", checkpoint::to_string(item.kind),
      has_mode(item) ? fmt::format("{:04o}", item.mode) : "",
      has_content(item) ? fmt::format("{}", item.size) : "",
      has_mode(item) ? format_time(item.modified) : "", printable_whole(item.path), target);
  if (!shown.tensors) return text;
  for (const checkpoint::Tensor& tensor : shown.tensors->tensors) {
    text +=
        fmt::format("{:8}  {:4}  {:>14}  {:20}    {}\n", "tensor", "", tensor.end - tensor.begin,
                    format_type(tensor), printable_whole(tensor.name));
  }
  return text;
}

std::string entry_text(const job::LogEntry& entry, bool pinned, const std::string& name) {
  const job::CheckpointFacts& facts = entry.checkpoint;
  const auto line = [](std::string_view what, const std::string& text) {
    return definition(what, text, 2, 12, 100);
  };
  std::string text = fmt::format("checkpoint {} of {}\n", entry.seq, name);
  if (facts.step) text += line("step", fmt::format("{}", *facts.step));
  text += line("saved", fmt::format("{} by {}, epoch {}", format_time(entry.time),
                                    printable(entry.writer), entry.epoch));
  text += line("why", printable(entry.why));
  text += line("size", fmt::format("{} in {} {}", format_bytes_short(facts.bytes), facts.files,
                                   facts.files == 1 ? "file" : "files"));
  text += line("new", fmt::format("{} stored for it", format_bytes_short(facts.stored_bytes)));
  if (!facts.metrics.empty()) text += line("metrics", format_metrics(facts));
  if (pinned) text += line("pinned", "yes");
  for (const Sha256Digest& manifest : facts.manifests) text += line("manifest", manifest.hex());
  return text;
}

Result<ExitCode> run_ckpt_show(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  OUTLAST_TRY_ASSIGN(const job::LogEntry entry, find_checkpoint(invocation, job));
  const bool pinned = job.checkpoints->log().history().pinned().contains(entry.seq);
  // What the log says is right whatever has become of the rest, so it is shown first.
  if (!context.terminal.json()) {
    context.terminal.print(entry_text(entry, pinned, job.name()) + "\n");
  }
  const auto loaded = job.checkpoints->load(entry, {});
  if (!loaded) {
    return loaded.error().while_doing(fmt::format("look into checkpoint {}", entry.seq));
  }
  OUTLAST_TRY_ASSIGN(const std::vector<ShownItem> items,
                     look_at_items(*loaded, invocation.flag("tensors"), job));
  if (context.terminal.json()) {
    Json json = checkpoint_json(entry);
    json["pinned"] = pinned;
    json["manifests"] = Json::array();
    for (const Sha256Digest& manifest : entry.checkpoint.manifests) {
      json["manifests"].push_back(manifest.hex());
    }
    json["items"] = Json::array();
    for (const ShownItem& item : items) json["items"].push_back(item_json(item));
    context.terminal.print_json(json);
  } else {
    std::string text;
    for (const ShownItem& item : items) text += item_text(item);
    context.terminal.print(text);
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_show_command() {
  return {
      .path = {"ckpt", "show"},
      .group = "Checkpoints",
      .summary = "Show what a checkpoint is made of",
      .description =
          {"Prints what the log says of a checkpoint, and everything in it: kind, mode, "
           "size in bytes, time of the last change, path. Only the manifest is read, and with "
           "--tensors the headers of safetensors files."},
      .options = with_job_options(
          {seq_option("the newest"),
           {.name = "tensors", .help = "list the tensors in safetensors files, too"}}),
      .examples = {{.command = "outlast ckpt show --root s3://my-bucket/training --job j1",
                    .does = "Look into the newest"}},
      .run = run_ckpt_show,
  };
}

}  // namespace outlast::cli
