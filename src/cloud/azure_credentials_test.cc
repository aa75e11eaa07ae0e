#include "cloud/azure_credentials.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

constexpr const char* kImds =
    "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&"
    "resource=https%3A%2F%2Fstorage.azure.com%2F";
constexpr const char* kTokenAnswer =
    R"({"access_token":"eyJ.t","expires_in":"3599","expires_on":"1800003599","token_type":"Bearer"})";

class AzureChainTest : public ::testing::Test {
 protected:
  FakeWorld fake_;
  std::unique_ptr<CredentialSource<AzureAuth>> credentials_ =
      make_azure_credentials(fake_.world(), "ada");

  // "key c2Vj…", "sas …", "bearer …".
  std::string auth() {
    const Result<AzureAuth> got = credentials_->get({});
    if (!got) return "error: " + got.error().to_string();
    if (const auto* key = std::get_if<AzureSharedKey>(&*got)) {
      return "key " + base64_encode(key->key.reveal());
    }
    if (const auto* sas = std::get_if<AzureSas>(&*got)) return "sas " + sas->query.reveal();
    return "bearer " + std::get<BearerToken>(*got).token.reveal();
  }
  Error error() {
    const Result<AzureAuth> got = credentials_->get({});
    EXPECT_FALSE(got.has_value());
    if (got) return {ErrorCode::kFailed, "there was something"};
    testing::expect_no_secret(got.error().to_string());
    return got.error();
  }
  void set_client(const std::string& secret) {
    fake_.set("AZURE_TENANT_ID", "ten");
    fake_.set("AZURE_CLIENT_ID", "cli");
    fake_.set("AZURE_CLIENT_SECRET", secret);
  }
  void TearDown() override { EXPECT_EQ(fake_.http.missing(), 0U); }
};

TEST_F(AzureChainTest, TheConnectionStringComesFirst) {
  fake_.set("AZURE_STORAGE_CONNECTION_STRING", "AccountName=ada;AccountKey=Y29ubg==");
  fake_.set("AZURE_STORAGE_KEY", "a2V5");
  set_client("s");
  EXPECT_EQ(auth(), "key Y29ubg==");
  EXPECT_EQ(credentials_->origin(), "AZURE_STORAGE_CONNECTION_STRING");
}

TEST_F(AzureChainTest, AConnectionStringMayHoldASignature) {
  fake_.set("AZURE_STORAGE_CONNECTION_STRING",
            "AccountName=ada;SharedAccessSignature=?sv=1&sig=x%3D");
  EXPECT_EQ(auth(), "sas sv=1&sig=x%3D");
}

TEST_F(AzureChainTest, ThenTheKeyThenTheSignature) {
  fake_.set("AZURE_STORAGE_CONNECTION_STRING", "AccountName=other;AccountKey=Y29ubg==");
  fake_.set("AZURE_STORAGE_ACCOUNT", "ada");
  fake_.set("AZURE_STORAGE_SAS_TOKEN", "?sv=2&sig=y");
  EXPECT_EQ(auth(), "sas sv=2&sig=y");
  fake_.set("AZURE_STORAGE_KEY", "a2V5");
  credentials_->forget();
  EXPECT_EQ(auth(), "key a2V5");
}

TEST_F(AzureChainTest, KeysOfAnotherAccountAreNotUsed) {
  fake_.set("AZURE_STORAGE_ACCOUNT", "other");
  fake_.set("AZURE_STORAGE_KEY", "a2V5");
  set_client("s");
  fake_.http.expect({.method = "POST",
                     .url = "https://login.microsoftonline.com/ten/oauth2/v2.0/token",
                     .answer = {.status = 200, .body = kTokenAnswer}});
  EXPECT_EQ(auth(), "bearer eyJ.t");
}

TEST_F(AzureChainTest, MalformedKeysAreNamedButNotShown) {
  fake_.set("AZURE_STORAGE_KEY", "pLaNtEd!");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
  fake_.set("AZURE_STORAGE_KEY", "");
  fake_.set("AZURE_STORAGE_SAS_TOKEN", "pLaNtEd");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
  fake_.set("AZURE_STORAGE_CONNECTION_STRING", "pLaNtEd");
  EXPECT_NE(error().to_string().find("AZURE_STORAGE_CONNECTION_STRING"), std::string::npos);
}

TEST_F(AzureChainTest, AClientSecretBuysATokenThatIsRefreshed) {
  set_client("s/t");
  fake_.set("AZURE_FEDERATED_TOKEN_FILE", fake_.path("not-this"));
  for (int i = 0; i < 2; ++i) {
    fake_.http.expect({.method = "POST",
                       .url = "https://login.microsoftonline.com/ten/oauth2/v2.0/token",
                       .body = "client_id=cli&client_secret=s%2Ft&grant_type=client_credentials&"
                               "scope=https%3A%2F%2Fstorage.azure.com%2F.default",
                       .direct = false,
                       .answer = {.status = 200, .body = kTokenAnswer}});
  }
  EXPECT_EQ(auth(), "bearer eyJ.t");
  fake_.clock.pass(std::chrono::minutes(50));
  EXPECT_EQ(auth(), "bearer eyJ.t");
  fake_.clock.pass(std::chrono::minutes(6));
  EXPECT_EQ(auth(), "bearer eyJ.t");
}

TEST_F(AzureChainTest, TheAuthorityCanBeElsewhereButNotInTheClear) {
  set_client("pLaNtEd");
  fake_.set("AZURE_AUTHORITY_HOST", "login.microsoftonline.us/");
  fake_.http.expect({.method = "POST",
                     .url = "https://login.microsoftonline.us/ten/oauth2/v2.0/token",
                     .answer = {.status = 200, .body = kTokenAnswer}});
  EXPECT_EQ(auth(), "bearer eyJ.t");
  credentials_->forget();
  fake_.set("AZURE_AUTHORITY_HOST", "http://evil.example");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(AzureChainTest, ARefusalStopsTheChainAndDoesNotShowTheSecret) {
  set_client("pLaNtEd/x");
  fake_.http.expect(
      {.method = "POST",
       .url = "https://login.microsoftonline.com/ten/oauth2/v2.0/token",
       .answer = {.status = 401,
                  .body = R"({"error":"invalid_client","error_description":)"
                          R"("AADSTS7000215: 'pLaNtEd/x' and pLaNtEd%2Fx.\r\nTrace"})"}});
  EXPECT_EQ(error().to_string(),
            "POST https://login.microsoftonline.com/ten/oauth2/v2.0/token was answered with 401 "
            "(invalid_client: AADSTS7000215: '[secret]' and [secret].  Trace): check "
            "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET");
}

TEST_F(AzureChainTest, AWorkloadIdentityReadsItsFileEachTime) {
  set_client("");
  for (const std::string assertion : {"one", "two"}) {
    fake_.set("AZURE_FEDERATED_TOKEN_FILE", fake_.write("federated", assertion + "\n"));
    fake_.http.expect(
        {.method = "POST",
         .url = "https://login.microsoftonline.com/ten/oauth2/v2.0/token",
         .body = "client_id=cli&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A"
                 "client-assertion-type%3Ajwt-bearer&client_assertion=" +
                 assertion +
                 "&grant_type=client_credentials&scope=https%3A%2F%2Fstorage.azure.com%2F.default",
         .answer = {.status = 200, .body = kTokenAnswer}});
    EXPECT_EQ(auth(), "bearer eyJ.t");
    credentials_->forget();
  }
}

TEST_F(AzureChainTest, AMachineHasAManagedIdentity) {
  fake_.http.expect(
      {.url = kImds, .headers = {{"Metadata", "true"}}, .direct = true, .answer = {.status = 410}});
  fake_.http.expect({.url = kImds, .answer = {.status = 200, .body = kTokenAnswer}});
  EXPECT_EQ(auth(), "bearer eyJ.t");
  EXPECT_EQ(credentials_->origin(), "the managed identity of this machine");
  fake_.set("AZURE_CLIENT_ID", "c 1");
  fake_.set("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:9/");
  credentials_->forget();
  fake_.http.expect({.url =
                         "http://127.0.0.1:9/metadata/identity/oauth2/token?api-version=2018-02-01&"
                         "resource=https%3A%2F%2Fstorage.azure.com%2F&client_id=c%201",
                     .answer = {.status = 200, .body = kTokenAnswer}});
  EXPECT_EQ(auth(), "bearer eyJ.t");
}

TEST_F(AzureChainTest, AnAppAsksItsOwnEndpoint) {
  fake_.set("IDENTITY_ENDPOINT", "http://127.0.0.1:4141/msi/token");
  fake_.set("IDENTITY_HEADER", "pLaNtEd");
  const std::string url =
      "http://127.0.0.1:4141/msi/token?api-version=2019-08-01&"
      "resource=https%3A%2F%2Fstorage.azure.com%2F";
  fake_.http.expect(
      {.url = url,
       .headers = {{"X-IDENTITY-HEADER", "pLaNtEd"}},
       .direct = true,
       .answer = {.status = 200, .body = R"({"access_token":"app","expires_on":"1800003600"})"}});
  EXPECT_EQ(auth(), "bearer app");
  credentials_->forget();
  fake_.http.expect({.url = url, .answer = {.status = 403, .body = R"({"code":"pLaNtEd"})"}});
  EXPECT_NE(error().to_string().find("give this app a managed identity"), std::string::npos);
  fake_.http.expect(
      {.url = url,
       .answer = {.status = 200,
                  .body = R"({"access_token":"pLaNtEd","expires_on":"1700000000"})"}});
  EXPECT_EQ(error().code(), ErrorCode::kUnavailable);
}

TEST_F(AzureChainTest, HostileAnswersBecomeSentences) {
  set_client("s");
  for (const char* body :
       {"<html>pLaNtEd</html>", "", "{}", "7", R"({"access_token":"pLaNtEd"})",
        R"({"access_token":"pLaNtEd","expires_in":"x"})",
        R"({"access_token":"pLaNtEd\n","expires_in":5})", R"({"access_token":7,"expires_in":5})",
        "{\"access_token\":\"\xC3\x28 pLaNtEd\",\"expires_in\":5}"}) {
    fake_.http.expect({.method = "POST",
                       .url = "https://login.microsoftonline.com/ten/oauth2/v2.0/token",
                       .answer = {.status = 200, .body = body}});
    EXPECT_NE(error().to_string().find("https://login.microsoftonline.com/ten"), std::string::npos);
  }
}

TEST_F(AzureChainTest, TheLoginOfAzComesLastAndTheAbsenceIsRemembered) {
  fake_.http.expect({.url = kImds,
                     .answer = {.status = 400,
                                .body = R"({"error":"invalid_request","error_description":)"
                                        R"("Identity not found"})"}});
  auto& az = fake_.programs.programs[{"az", "account", "get-access-token", "--output", "json",
                                      "--resource", "https://storage.azure.com/"}];
  az.prints =
      R"({"accessToken":"azt","expiresOn":"2027-01-15 10:00:00.0","expires_on":1800003600})";
  EXPECT_EQ(auth(), "bearer azt");
  EXPECT_EQ(credentials_->origin(), "the login of az");
  fake_.clock.pass(std::chrono::minutes(4));
  az.prints = R"({"accessToken":"old version","expiresOn":"2027-01-15 10:00:00.0"})";
  EXPECT_EQ(auth(), "bearer azt");
  credentials_->forget();
  EXPECT_EQ(auth(), "bearer old version");
  // By now the absence of an identity is old enough to be looked at again.
  fake_.clock.pass(std::chrono::seconds(151));
  fake_.http.expect({.url = kImds, .answer = {.status = 400}});
  az.prints = R"({"accessToken":"newer"})";
  EXPECT_EQ(auth(), "bearer newer") << "kept for half of an assumed life";
  credentials_->forget();
  az.prints = "pLaNtEd";
  EXPECT_EQ(error().code(), ErrorCode::kFailed);
  az.status = sys::Exited{1};
  EXPECT_NE(error().to_string().find("az has no login"), std::string::npos);
}

TEST_F(AzureChainTest, WithNothingTheSentenceSaysWhatWasTriedAndWhatToDo) {
  fake_.http.nobody_at("http://169.254.169.254/");
  const Error nothing = error();
  EXPECT_EQ(nothing.code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(nothing.to_string(),
            "no Azure credentials for account 'ada' were found: AZURE_STORAGE_CONNECTION_STRING, "
            "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_SECRET and "
            "AZURE_FEDERATED_TOKEN_FILE are not set for it, no managed identity answered, and az "
            "is not installed; run 'az login', or set AZURE_STORAGE_CONNECTION_STRING");
}

TEST(AzureAccountTest, IsFoundWithItsEndpoint) {
  FakeWorld fake;
  sys::Environment& environment = fake.world().environment;
  EXPECT_EQ(find_azure_account(environment, "").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(find_azure_account(environment, "bob")->blob_endpoint,
            "https://bob.blob.core.windows.net");
  fake.set("AZURE_STORAGE_ACCOUNT", "ada");
  EXPECT_EQ(find_azure_account(environment, "")->name, "ada");
  fake.set("AZURE_STORAGE_CONNECTION_STRING",
           "AccountName=emu;AccountKey=YQ==;BlobEndpoint=http://127.0.0.1:1/emu");
  EXPECT_EQ(find_azure_account(environment, "")->blob_endpoint, "http://127.0.0.1:1/emu");
  EXPECT_EQ(find_azure_account(environment, "emu")->blob_endpoint, "http://127.0.0.1:1/emu");
  EXPECT_EQ(find_azure_account(environment, "bob")->blob_endpoint,
            "https://bob.blob.core.windows.net");
}

}  // namespace
}  // namespace outlast::cloud
