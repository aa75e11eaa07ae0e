#include "cloud/ini.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "cloud/testing/planted_secrets.h"

namespace outlast::cloud {
namespace {

TEST(Ini, ReadsSectionsAndSettings) {
  const Result<IniFile> file =
      parse_ini("[default]\nRegion = eu-west-1\n\n[profile train]\na=b=c\n");
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(file->size(), 2U);
  EXPECT_EQ((*file)[0].name, "default");
  EXPECT_EQ((*file)[0].find("region")->value, "eu-west-1");
  EXPECT_EQ((*file)[1].name, "profile train");
  EXPECT_EQ((*file)[1].find("a")->value, "b=c");
  EXPECT_EQ((*file)[1].find("region"), nullptr);
}

TEST(Ini, TakesWhatWindowsAndEditorsLeave) {
  const Result<IniFile> file = parse_ini("\xEF\xBB\xBF[default]\r\nregion = x\r\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("region")->value, "x");
}

TEST(Ini, DropsComments) {
  const Result<IniFile> file = parse_ini(
      "# top\n; too\n[default] # the usual one\n  # indented\nregion = x ; home\nkey = a#b;c\nnone "
      "= # c\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("region")->value, "x");
  EXPECT_EQ(file->at(0).find("key")->value, "a#b;c");
  EXPECT_EQ(file->at(0).find("none")->value, "");
}

TEST(Ini, KeepsCommentSignsInQuotes) {
  const Result<IniFile> file = parse_ini("[p]\ncredential_process = sh -c 'a ; b # c' \"x ; y\"\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("credential_process")->value, "sh -c 'a ; b # c' \"x ; y\"");
}

TEST(Ini, NestsIndentedSettingsBelowAnEmptyOne) {
  const Result<IniFile> file = parse_ini(
      "[services dev]\ns3 =\n  endpoint_url = http://a\n\taddressing_style = path\nec2 =\n  x = "
      "y\n");
  ASSERT_TRUE(file.has_value());
  const IniSetting* s3 = file->at(0).find("s3");
  ASSERT_NE(s3, nullptr);
  ASSERT_EQ(s3->nested.size(), 2U);
  EXPECT_EQ(s3->nested[0].first, "endpoint_url");
  EXPECT_EQ(s3->nested[0].second, "http://a");
  EXPECT_EQ(s3->nested[1].second, "path");
  EXPECT_EQ(file->at(0).find("ec2")->nested.size(), 1U);
}

TEST(Ini, ContinuesAValueOnIndentedLines) {
  const Result<IniFile> file = parse_ini("[p]\na = one\n  two\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("a")->value, "one\ntwo");
}

TEST(Ini, KeepsValuesOfAnyLength) {
  const std::string token(5000, 't');
  const Result<IniFile> file = parse_ini("[p]\naws_session_token = " + token + "\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("aws_session_token")->value, token);
}

TEST(Ini, NormalisesSectionNames) {
  const Result<IniFile> file = parse_ini("[ profile \t \"my train\" ]\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).name, "profile my train");
}

TEST(Ini, TheLastOfTwoSettingsCounts) {
  const Result<IniFile> file = parse_ini("[p]\na = 1\na = 2\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->at(0).find("a")->value, "2");
}

TEST(Ini, NamesTheLineThatIsMalformedButNotItsContent) {
  for (const char* text :
       {"[p]\na = 1\naws_secret_access_key pLaNtEd\n", "[p]\na = 1\n= pLaNtEd\n",
        "[p]\na = 1\n[pLaNtEd\n", "[p]\na = 1\n[x] pLaNtEd\n", "[p]\ns3 =\n  pLaNtEd\n"}) {
    const Result<IniFile> file = parse_ini(text);
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_EQ(file.error().code(), ErrorCode::kCorrupt);
    EXPECT_NE(file.error().to_string().find("line 3"), std::string::npos);
    testing::expect_no_secret(file.error().to_string());
  }
}

TEST(Ini, RefusesASettingAboveEverySection) {
  EXPECT_FALSE(parse_ini("a = 1\n").has_value());
}

TEST(Ini, SurvivesBytesThatAreNoText) {
  std::string text = "[p]\nkey = ";
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') text += static_cast<char>(byte);
  }
  EXPECT_TRUE(parse_ini(text).has_value());
  EXPECT_TRUE(parse_ini("").has_value());
  EXPECT_FALSE(parse_ini(std::string(1, '\0')).has_value());
}

}  // namespace
}  // namespace outlast::cloud
