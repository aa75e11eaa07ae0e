#include "cloud/azure_credentials.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
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
#include "cloud/azure_managed_identity.h"
#include "cloud/caching_credentials.h"
#include "cloud/connection_string.h"
#include "cloud/credential_http.h"
#include "cloud/credential_tool.h"
#include "cloud/credentials.h"
#include "cloud/url_encoding.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::cloud {
namespace {

constexpr std::uint64_t kFederatedTokenBytesMax = 64U << 10U;
// az renews tokens that have less than this left; older versions say the time only by the clock on
// the wall of wherever they run.
constexpr Duration kAzTokenLife = std::chrono::minutes(5);
constexpr std::string_view kConnectionVariable = "AZURE_STORAGE_CONNECTION_STRING";

using FoundAuth = std::optional<Fetched<AzureAuth>>;

std::string azure_variable(sys::Environment& environment, std::string_view name) {
  return environment.get(name).value_or("");
}

// nullopt if the variable is not set.
Result<std::optional<AzureConnection>> find_connection(sys::Environment& environment) {
  const Secret<std::string> text(azure_variable(environment, kConnectionVariable));
  if (text.reveal().empty()) return std::nullopt;
  OUTLAST_TRY_ASSIGN(
      AzureConnection connection,
      parse_connection_string(text.reveal()).while_doing(std::string(kConnectionVariable)));
  return std::optional(std::move(connection));
}

Result<AzureAuth> shared_key(const Secret<std::string>& base64, std::string_view where) {
  Result<Bytes> key = base64_decode(base64.reveal());
  if (!key || key->empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is not base64: copy the whole key of the storage account", where));
  }
  return AzureAuth(AzureSharedKey{.key = Secret(*std::move(key))});
}

Result<AzureAuth> shared_signature(std::string query, std::string_view where) {
  if (query.starts_with('?')) query.erase(0, 1);
  if (!is_header_text(query) || query.find("sig=") == std::string::npos) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is not a shared access signature: it must hold 'sig='", where));
  }
  return AzureAuth(AzureSas{.query = Secret(std::move(query))});
}

// Keys and signatures that belong to the account itself.
Result<FoundAuth> find_account_auth(sys::Environment& environment, std::string_view account) {
  OUTLAST_TRY_ASSIGN(const std::optional<AzureConnection> connection, find_connection(environment));
  if (connection && connection->account == account) {
    const std::string origin(kConnectionVariable);
    OUTLAST_TRY_ASSIGN(AzureAuth auth, connection->key.reveal().empty()
                                           ? shared_signature(connection->sas.reveal(), origin)
                                           : shared_key(connection->key, origin));
    return FoundAuth({.value = std::move(auth), .origin = origin});
  }
  const std::string named = azure_variable(environment, "AZURE_STORAGE_ACCOUNT");
  if (!named.empty() && named != account) return std::nullopt;
  const Secret<std::string> key(azure_variable(environment, "AZURE_STORAGE_KEY"));
  if (!key.reveal().empty()) {
    OUTLAST_TRY_ASSIGN(AzureAuth auth, shared_key(key, "AZURE_STORAGE_KEY"));
    return FoundAuth({.value = std::move(auth), .origin = "AZURE_STORAGE_KEY"});
  }
  const Secret<std::string> sas(azure_variable(environment, "AZURE_STORAGE_SAS_TOKEN"));
  if (!sas.reveal().empty()) {
    OUTLAST_TRY_ASSIGN(AzureAuth auth, shared_signature(sas.reveal(), "AZURE_STORAGE_SAS_TOKEN"));
    return FoundAuth({.value = std::move(auth), .origin = "AZURE_STORAGE_SAS_TOKEN"});
  }
  return std::nullopt;
}

class AzureChain : public CredentialFetcher<AzureAuth> {
 public:
  AzureChain(sys::World& world, std::string account)
      : world_(world), account_(std::move(account)), managed_(world) {}

  Result<Fetched<AzureAuth>> fetch(const sys::CallContext& ctx) override {
    OUTLAST_TRY_ASSIGN(FoundAuth auth, find_account_auth(world_.environment, account_));
    if (auth) return *std::move(auth);
    OUTLAST_TRY_ASSIGN(Fetched<BearerToken> token, fetch_token(ctx));
    return Fetched<AzureAuth>{.value = std::move(token.value),
                              .lifetime = token.lifetime,
                              .origin = std::move(token.origin)};
  }

 private:
  Result<Fetched<BearerToken>> fetch_token(const sys::CallContext& ctx) {
    const std::string tenant = azure_variable(world_.environment, "AZURE_TENANT_ID");
    const std::string client = azure_variable(world_.environment, "AZURE_CLIENT_ID");
    if (!tenant.empty() && !client.empty()) {
      const Secret<std::string> secret(azure_variable(world_.environment, "AZURE_CLIENT_SECRET"));
      if (!secret.reveal().empty()) {
        return ask_authority({{"client_id", client}, {"client_secret", secret.reveal()}}, secret,
                             "AZURE_CLIENT_SECRET", ctx);
      }
      const std::string file = azure_variable(world_.environment, "AZURE_FEDERATED_TOKEN_FILE");
      if (!file.empty()) return workload_token(client, file, ctx);
    }
    OUTLAST_TRY_ASSIGN(std::optional<Fetched<BearerToken>> token, managed_.fetch(ctx));
    if (token) return *std::move(token);
    return ask_az(ctx);
  }

  Result<Fetched<BearerToken>> workload_token(const std::string& client, const std::string& file,
                                              const sys::CallContext& ctx) {
    // Read anew each time: it is replaced every hour.
    Result<std::string> text = sys::read_file(world_.files, file, kFederatedTokenBytesMax);
    if (!text) {
      return std::move(text).error().while_doing(
          "read the file that AZURE_FEDERATED_TOKEN_FILE names");
    }
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
    const Secret<std::string> assertion(*std::move(text));
    return ask_authority(
        {{"client_id", client},
         {"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
         {"client_assertion", assertion.reveal()}},
        assertion, "AZURE_FEDERATED_TOKEN_FILE", ctx);
  }

  Result<Fetched<BearerToken>> ask_authority(Query form, const Secret<std::string>& secret,
                                             std::string_view variable,
                                             const sys::CallContext& ctx) {
    std::string url = azure_variable(world_.environment, "AZURE_AUTHORITY_HOST");
    while (url.ends_with('/')) url.pop_back();
    if (url.empty()) url = "login.microsoftonline.com";
    if (url.find("://") == std::string::npos) url = "https://" + url;
    OUTLAST_TRY(check_issuer_url(url, "AZURE_AUTHORITY_HOST"));
    url += fmt::format("/{}/oauth2/v2.0/token",
                       percent_encode(azure_variable(world_.environment, "AZURE_TENANT_ID")));
    form.emplace_back("grant_type", "client_credentials");
    form.emplace_back("scope", fmt::format("{}.default", kAzureStorageResource));
    const IssuerCall call = form_call(std::move(url), form);
    OUTLAST_TRY_ASSIGN(const sys::HttpResponse answer,
                       ask_issuer(world_.http, world_.clock, call, ctx));
    if (answer.status != 200) {
      return issuer_refusal(call, answer, {secret.reveal()},
                            fmt::format("check AZURE_TENANT_ID, AZURE_CLIENT_ID and {}", variable));
    }
    OUTLAST_TRY_ASSIGN(Fetched<BearerToken> token, read_azure_token(call, answer, world_.clock));
    token.origin = fmt::format("AZURE_CLIENT_ID with {}", variable);
    return token;
  }

  Result<Fetched<BearerToken>> ask_az(const sys::CallContext& ctx) {
    Result<Secret<std::string>> printed =
        run_credential_tool(world_,
                            {"az", "account", "get-access-token", "--output", "json", "--resource",
                             std::string(kAzureStorageResource)},
                            ctx);
    if (!printed && printed.error().code() == ErrorCode::kNotFound) {
      return nothing_found("is not installed");
    }
    if (!printed && printed.error().code() == ErrorCode::kPermissionDenied) {
      return nothing_found("has no login");
    }
    if (!printed) return std::move(printed).error();
    const Result<Json> json = parse_json(printed->reveal());
    const Result<std::string> token =
        json ? json_string(*json, "accessToken") : Result<std::string>(json.error());
    if (!token || !is_header_text(*token)) {
      return Error(ErrorCode::kFailed,
                   "'az account get-access-token' did not print a token: run it by hand to see "
                   "what it prints");
    }
    Duration lifetime = kAzTokenLife;
    if (const Result<std::int64_t> expires = json_int(*json, "expires_on"); expires) {
      // Only versions that tell it as a number; what is past or absurd falls back.
      const IssuerCall nobody;
      const Result<Duration> since_1970 = issuer_seconds(nobody, *json, "expires_on");
      const Result<Duration> left =
          since_1970 ? lifetime_until(WallTime(*since_1970), {}, world_.clock) : since_1970;
      if (left) lifetime = *left;
    }
    return Fetched<BearerToken>{
        .value = {.token = Secret(*token)}, .lifetime = lifetime, .origin = "the login of az"};
  }

  Error nothing_found(std::string_view az) const {
    return {ErrorCode::kPermissionDenied,
            fmt::format("no Azure credentials for account '{}' were found: {}, AZURE_STORAGE_KEY, "
                        "AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_SECRET and "
                        "AZURE_FEDERATED_TOKEN_FILE are not set for it, no managed identity "
                        "answered, and az {}; run 'az login', or set {}",
                        account_, kConnectionVariable, az, kConnectionVariable)};
  }

  sys::World& world_;
  const std::string account_;
  AzureManagedIdentity managed_;
};

}  // namespace

Result<AzureAccount> find_azure_account(sys::Environment& environment, std::string_view name) {
  OUTLAST_TRY_ASSIGN(std::optional<AzureConnection> connection, find_connection(environment));
  AzureAccount account = {.name = std::string(name)};
  if (account.name.empty() && connection) account.name = connection->account;
  if (account.name.empty()) account.name = azure_variable(environment, "AZURE_STORAGE_ACCOUNT");
  if (account.name.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("no Azure storage account is named: set AZURE_STORAGE_ACCOUNT or {}",
                             kConnectionVariable));
  }
  const bool same = connection && connection->account == account.name;
  account.blob_endpoint = same ? std::move(connection->blob_endpoint)
                               : fmt::format("https://{}.blob.core.windows.net", account.name);
  return account;
}

std::unique_ptr<CredentialSource<AzureAuth>> make_azure_credentials(sys::World& world,
                                                                    std::string account) {
  return std::make_unique<CachingCredentials<AzureAuth>>(
      std::make_unique<AzureChain>(world, std::move(account)), world.clock, world.threads);
}

}  // namespace outlast::cloud
