#include "cloud/connection_string.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

TEST(ConnectionString, ReadsWhatThePortalGives) {
  const Result<AzureConnection> connection = parse_connection_string(
      "DefaultEndpointsProtocol=https;AccountName=ada;AccountKey=c2VjcmV0a2V5MQ==;"
      "EndpointSuffix=core.windows.net");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->account, "ada");
  EXPECT_EQ(connection->key.reveal(), "c2VjcmV0a2V5MQ==");
  EXPECT_EQ(connection->sas.reveal(), "");
  EXPECT_EQ(connection->blob_endpoint, "https://ada.blob.core.windows.net");
}

TEST(ConnectionString, UsesTheSuffixAndProtocolOfOtherClouds) {
  const Result<AzureConnection> connection = parse_connection_string(
      "AccountName=ada;AccountKey=YQ==;EndpointSuffix=core.chinacloudapi.cn;"
      "DefaultEndpointsProtocol=http");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->blob_endpoint, "http://ada.blob.core.chinacloudapi.cn");
}

TEST(ConnectionString, ReadsASignatureAndFindsTheAccountInItsEndpoint) {
  const Result<AzureConnection> connection = parse_connection_string(
      "BlobEndpoint=https://ada.blob.core.windows.net/;SharedAccessSignature=?sv=2022&sig=a%3D");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->account, "ada");
  EXPECT_EQ(connection->sas.reveal(), "sv=2022&sig=a%3D");
  EXPECT_EQ(connection->blob_endpoint, "https://ada.blob.core.windows.net");
}

TEST(ConnectionString, KnowsAnEmulatorsEndpoint) {
  const Result<AzureConnection> connection = parse_connection_string(
      "BlobEndpoint=http://127.0.0.1:4711/devstoreaccount1;AccountName=devstoreaccount1;"
      "AccountKey=YQ==;");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->blob_endpoint, "http://127.0.0.1:4711/devstoreaccount1");
}

TEST(ConnectionString, DevelopmentStorageIsTheLocalEmulator) {
  const Result<AzureConnection> connection = parse_connection_string("UseDevelopmentStorage=true");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->account, "devstoreaccount1");
  EXPECT_EQ(connection->blob_endpoint, "http://127.0.0.1:10000/devstoreaccount1");
  EXPECT_FALSE(connection->key.reveal().empty());
  EXPECT_EQ(parse_connection_string(
                "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://myhost/")
                ->blob_endpoint,
            "http://myhost:10000/devstoreaccount1");
}

TEST(ConnectionString, NamesInAnyCaseAndSpacesAroundParts) {
  const Result<AzureConnection> connection =
      parse_connection_string(" accountname=ada ;\n ACCOUNTKEY=YQ==;");
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->account, "ada");
  EXPECT_EQ(connection->key.reveal(), "YQ==");
}

TEST(ConnectionString, RefusesWhatIsMalformedWithoutShowingIt) {
  for (const char* text : {
           "pLaNtEd",                                                   // no name
           "AccountName=ada;=pLaNtEd",                                  // an empty name
           "AccountName=ada;AccountKey=pLaNtEd!",                       // not base64
           "AccountKey=pLaNtEdA",                                       // no account
           "AccountName=ada",                                           // nothing that opens it
           "AccountName=ada;AccountKey=YQ==;AccountKey=pLaNtEdA",       // twice
           "AccountName=ada;AccountKey=pLaNtEdA;BlobEndpoint=ftp://x",  // not HTTP
           "AccountName=ada;AccountKey=pLaNtEdA;DefaultEndpointsProtocol=ftp",
           "",
           " ; ",
       }) {
    const Result<AzureConnection> connection = parse_connection_string(text);
    ASSERT_FALSE(connection.has_value()) << text;
    EXPECT_EQ(connection.error().code(), ErrorCode::kInvalidArgument) << text;
    testing::expect_no_secret(connection.error().to_string());
  }
}

}  // namespace
}  // namespace outlast::cloud
