#include "cloud/gcp_credentials.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/caching_credentials.h"
#include "cloud/credential_http.h"
#include "cloud/credential_tool.h"
#include "cloud/credentials.h"
#include "cloud/gcp_metadata_credentials.h"
#include "cloud/gcp_tokens.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kGcpFileBytesMax = 1U << 20U;
// gcloud does not say how long its tokens live; it renews what has less than this left.
constexpr Duration kGcloudTokenLife = std::chrono::minutes(5);

struct GcpFile {
  std::string path = {};
  Json json = {};
};

// The login that gcloud keeps for programs; "" if there is nowhere to look.
std::string usual_gcp_path(sys::World& world) {
  constexpr std::string_view kName = "application_default_credentials.json";
  const std::string folder = world.environment.get("CLOUDSDK_CONFIG").value_or("");
  if (!folder.empty()) return sys::join_path(folder, kName);
  const std::string home = world.environment.get("HOME").value_or("");
  return home.empty() ? "" : sys::join_path(home, fmt::format(".config/gcloud/{}", kName));
}

// nullopt if there is none.
Result<std::optional<GcpFile>> find_gcp_file(sys::World& world) {
  std::string path = world.environment.get("GOOGLE_APPLICATION_CREDENTIALS").value_or("");
  const bool must_exist = !path.empty();
  if (path.empty()) path = usual_gcp_path(world);
  if (path.empty()) return std::nullopt;
  Result<std::string> read = sys::read_file(world.files, path, kGcpFileBytesMax);
  if (!read) {
    if (read.error().code() == ErrorCode::kNotFound && !must_exist) return std::nullopt;
    return std::move(read).error().while_doing(
        must_exist ? "read the file that GOOGLE_APPLICATION_CREDENTIALS names"
                   : "read the application default credentials");
  }
  const Secret<std::string> text(*std::move(read));
  // The parser's own error may quote the file.
  Result<Json> json = parse_json(text.reveal());
  if (!json || !json->is_object()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is not a JSON object: it must be a Google credentials file", path));
  }
  return std::optional(GcpFile{.path = std::move(path), .json = *std::move(json)});
}

class GcpChain : public CredentialFetcher<BearerToken> {
 public:
  GcpChain(sys::World& world, std::string scope)
      : world_(world), scope_(std::move(scope)), metadata_(world) {}

  Result<Fetched<BearerToken>> fetch(const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(const std::optional<GcpFile> file, find_gcp_file(world_));
    if (file) {
      return fetch_gcp_token(world_, file->json, {.file = file->path, .scope = scope_}, ctx);
    }
    OUTLAST_TRY_ASSIGN(std::optional<Fetched<BearerToken>> token, metadata_.fetch(scope_, ctx));
    if (token) return *std::move(token);
    return ask_gcloud(ctx);
  }

 private:
  Result<Fetched<BearerToken>> ask_gcloud(const sys::CallContext& ctx) {
    Result<Secret<std::string>> printed =
        run_credential_tool(world_, {"gcloud", "auth", "print-access-token"}, ctx);
    if (!printed && (printed.error().code() == ErrorCode::kNotFound ||
                     printed.error().code() == ErrorCode::kPermissionDenied)) {
      return Error(
          ErrorCode::kPermissionDenied,
          fmt::format("no Google credentials were found: GOOGLE_APPLICATION_CREDENTIALS is not "
                      "set, {} is not there, no metadata server answered, and gcloud {}; run "
                      "'gcloud auth application-default login', or set "
                      "GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account",
                      usual_gcp_path(world_),
                      printed.error().code() == ErrorCode::kNotFound ? "is not installed"
                                                                     : "has no login"));
    }
    if (!printed) return std::move(printed).error();
    std::string token = printed->reveal();
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    if (!is_header_text(token) || token.find(' ') != std::string::npos) {
      return Error(ErrorCode::kFailed,
                   "'gcloud auth print-access-token' did not print a token: run it by hand to see "
                   "what it prints");
    }
    return Fetched<BearerToken>{.value = {.token = Secret(std::move(token))},
                                .lifetime = kGcloudTokenLife,
                                .origin = "the login of gcloud"};
  }

  sys::World& world_;
  const std::string scope_;
  GcpMetadataCredentials metadata_;
};

class AccountKeySigner : public GcpSigner {
 public:
  explicit AccountKeySigner(GcpAccountKey account) : account_(std::move(account)) {}
  const std::string& email() const override { return account_.email; }
  Result<Bytes> sign(BytesView message, const sys::CallContext& /*ctx*/) override {
    return account_.key.sign_sha256(message);
  }

 private:
  const GcpAccountKey account_;
};

class DefaultGcpCredentials : public GcpCredentials {
 public:
  DefaultGcpCredentials(sys::World& world, std::string scope)
      : world_(world),
        tokens_(std::make_unique<GcpChain>(world, std::move(scope)), world.clock, world.threads),
        monitor_(world.threads.make_monitor()) {}

  Result<BearerToken> get(const sys::CallContext& ctx) override { return tokens_.get(ctx); }
  void forget() override { tokens_.forget(); }
  std::string origin() override { return tokens_.origin(); }

  GcpSigner* signer() override {
    {
      const std::unique_lock lock(*monitor_);
      if (signer_) return signer_->get();
    }
    std::unique_ptr<GcpSigner> made = make_signer();
    const std::unique_lock lock(*monitor_);
    if (!signer_) signer_ = std::move(made);
    return signer_->get();
  }

 private:
  std::unique_ptr<GcpSigner> make_signer() {
    const std::optional<GcpFile> file = find_gcp_file(world_).value_or(std::nullopt);
    if (!file || json_string(file->json, "type").value_or("") != "service_account") return nullptr;
    Result<GcpAccountKey> key = read_gcp_account_key(file->json, file->path);
    return key ? std::make_unique<AccountKeySigner>(*std::move(key)) : nullptr;
  }

  sys::World& world_;
  CachingCredentials<BearerToken> tokens_;
  const std::unique_ptr<sys::Monitor> monitor_;            // guards the rest
  std::optional<std::unique_ptr<GcpSigner>> signer_ = {};  // nullptr inside: there is none
};

}  // namespace

std::unique_ptr<GcpCredentials> make_gcp_credentials(sys::World& world, std::string scope) {
  return std::make_unique<DefaultGcpCredentials>(world, std::move(scope));
}

}  // namespace outlast::cloud
