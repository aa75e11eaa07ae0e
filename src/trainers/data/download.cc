#include "trainers/data/download.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/http.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::trainers {
namespace {

constexpr int kRedirectsMax = 5;

using Progress = std::function<void(const DownloadProgress&)>;

// Where a redirect leads; nullopt if the answer is none, or leads nowhere that we go.
Result<std::optional<std::string>> redirect_of(const sys::HttpResponse& answer,
                                               const std::string& url) {
  if (answer.status < 300 || answer.status > 399) return std::nullopt;
  const std::optional<std::string_view> where = sys::find_header(answer.headers, "Location");
  if (!where) return std::nullopt;
  if (where->find("://") != std::string_view::npos) return std::string(*where);
  if (!where->starts_with('/')) return std::nullopt;
  OUTLAST_TRY_ASSIGN(const sys::HttpUrl parts, sys::parse_http_url(url));
  return fmt::format("{}://{}{}", parts.scheme, parts.authority, *where);
}

// One file on its way to the disk.
class Incoming {
 public:
  Incoming(const DownloadFile& wanted, sys::File& file, const Progress& progress)
      : wanted_(wanted), file_(file), progress_(progress) {}

  Result<void> take(BytesView piece) {
    if (piece.size() > wanted_.size - bytes_) {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("there are more bytes than the {} that were published", wanted_.size));
    }
    OUTLAST_TRY(file_.write_at(piece, bytes_));
    md5_.update(piece);
    bytes_ += piece.size();
    if (progress_) progress_({.file = wanted_.url, .bytes = bytes_, .size = wanted_.size});
    return {};
  }

  Result<void> check() {
    if (bytes_ != wanted_.size) {
      return Error(ErrorCode::kCorrupt, fmt::format("{} bytes came instead of the {} that were "
                                                    "published",
                                                    bytes_, wanted_.size));
    }
    const std::string md5 = hex_encode(md5_.finish());
    if (md5 == wanted_.md5) return {};
    return Error(ErrorCode::kCorrupt, fmt::format("its MD5 is {} instead of {}", md5, wanted_.md5));
  }

 private:
  const DownloadFile& wanted_;
  sys::File& file_;
  const Progress& progress_;
  Md5 md5_;
  std::uint64_t bytes_ = 0;
};

Result<void> receive(const DownloadFile& wanted, sys::File& file, sys::HttpClient& http,
                     const Progress& progress, const sys::CallContext& ctx) {
  std::string url = wanted.url;
  for (int hop = 0; hop <= kRedirectsMax; ++hop) {
    Incoming incoming(wanted, file, progress);
    const sys::HttpRequest request = {
        .url = url,
        .headers = {{"User-Agent", "outlast"}},
        .sink = [&](const sys::HttpResponse&, BytesView piece) { return incoming.take(piece); }};
    OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer, http.send(request, ctx));
    if (answer.status == 200) return incoming.check();
    OUTLAST_TRY_ASSIGN(std::optional<std::string> elsewhere, redirect_of(answer, url));
    if (!elsewhere) {
      return Error(ErrorCode::kUnavailable, fmt::format("the server answered {}", answer.status));
    }
    url = *std::move(elsewhere);
  }
  return Error(ErrorCode::kUnavailable, "the server sends us from address to address");
}

Result<void> run_tool(const std::vector<std::string>& argv, sys::World& world,
                      const sys::CallContext& ctx) {
  std::string said;
  sys::ProcessSpec spec = {.argv = argv, .out = {sys::Output::Discard{}}};
  spec.err = {sys::Output::Sink([&](std::string_view piece) { said += piece; })};
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::Process> tool,
                     world.processes.spawn(std::move(spec)));
  OUTLAST_TRY_ASSIGN(const sys::ExitStatus status, tool->wait(ctx));
  if (status == sys::ExitStatus(sys::Exited{0})) return {};
  return Error(ErrorCode::kFailed, fmt::format("'{}' {}: {}", fmt::join(argv, " "),
                                               sys::to_string(status), ascii_trimmed(said)));
}

Result<void> unpack(const DownloadFile& wanted, const std::string& path, sys::World& world,
                    const sys::CallContext& ctx) {
  switch (wanted.packing) {
    case Packing::kPlain:
      return {};
    case Packing::kGzip:
      return run_tool({"gzip", "-d", "-f", path}, world, ctx);
    case Packing::kTarGzip:
      // The archive's owners mean nothing on this machine.
      return run_tool({"tar", "-xzf", path, "--no-same-owner", "-C", sys::parent_path(path)}, world,
                      ctx);
  }
  return Error(ErrorCode::kInvalidArgument, "this is no packing");
}

Result<void> bring(const DownloadFile& wanted, const std::string& folder, sys::World& world,
                   const Progress& progress, const sys::CallContext& ctx) {
  const std::string done = sys::join_path(folder, wanted.makes);
  if (world.files.stat(done)) return {};
  const std::string draft_folder = sys::join_path(folder, ".downloading");
  OUTLAST_TRY(sys::remove_tree(world.files, draft_folder));
  OUTLAST_TRY(sys::make_dirs(world.files, draft_folder));
  const std::string path = sys::join_path(draft_folder, sys::base_name(wanted.url));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::File> file,
                     world.files.open(path, sys::OpenMode::kTruncate));
  OUTLAST_TRY(receive(wanted, *file, world.http, progress, ctx));
  OUTLAST_TRY(unpack(wanted, path, world, ctx));
  OUTLAST_TRY(file->sync_file_system());
  OUTLAST_TRY(world.files.rename(sys::join_path(draft_folder, wanted.makes), done));
  OUTLAST_TRY(world.files.sync_dir(folder));
  return sys::remove_tree(world.files, draft_folder);
}

}  // namespace

Result<void> download(const Dataset& dataset, const std::string& folder, sys::World& world,
                      const std::function<void(const DownloadProgress&)>& progress,
                      const sys::CallContext& ctx) {
  for (const DownloadFile& file : dataset.files) {
    const Result<void> brought = bring(file, folder, world, progress, ctx);
    if (brought) continue;
    return Error(
        brought.error().code(),
        fmt::format("cannot download {} from {} ({}): put {} into {} yourself", dataset.name,
                    file.url, brought.error().to_string(), dataset.belongs, folder));
  }
  return {};
}

}  // namespace outlast::trainers
