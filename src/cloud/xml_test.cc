#include "cloud/xml.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace outlast::cloud {
namespace {

TEST(Xml, ReadsNamesTextsAndEntities) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?><s3:List xmlns:s3='x'><Key>a &amp; b&#34;</Key><Key>  </Key>"
      "<Size>3</Size></s3:List>");
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(root->name, "List");
  EXPECT_EQ(root->child_text("Key"), "a & b\"");
  EXPECT_EQ(root->children[1].text, "  ");
  EXPECT_EQ(root->child_text("Size"), "3");
  EXPECT_EQ(root->child_text("None"), "");
  EXPECT_EQ(root->child("None"), nullptr);
}

TEST(Xml, ReadsAttributes) {
  const auto root = parse_xml("<List><Name Encoded='true' x=\"a&amp;b\">a%00</Name></List>");
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(root->child("Name")->attribute("Encoded"), "true");
  EXPECT_EQ(root->child("Name")->attribute("x"), "a&b");
  EXPECT_EQ(root->child("Name")->attribute("y"), "");
}

TEST(Xml, RefusesWhatIsNotAWholeDocument) {
  for (const char* bad : {"", "   ", "plain", "<a>", "<a><b></a>", "<html><p>no"}) {
    const auto root = parse_xml(bad);
    ASSERT_FALSE(root) << bad;
    EXPECT_EQ(root.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Xml, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  for (int i = 0; i < 100'000; ++i) deep += "</a>";
  EXPECT_FALSE(parse_xml(deep));
}

TEST(Xml, EscapesTheFive) {
  EXPECT_EQ(xml_escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&apos;");
}

}  // namespace
}  // namespace outlast::cloud
