#include "io/xml_text.h"

#include <gtest/gtest.h>

namespace kinjo::io {
namespace {

TEST(XmlText, ElementsOfAListing) {
  const std::string xml =
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Prefix>a/</Prefix>"
      "<Contents><Key>a/1 &amp; &lt;2&gt;&#x41;&#228;</Key><Size>12</Size></Contents>"
      "<Contents ><Key>b</Key></Contents><Empty/></ListBucketResult>";
  const auto contents = XmlElements(xml, "Contents");
  ASSERT_EQ(contents.size(), 2U);
  EXPECT_EQ(XmlText(contents[0], "Key"), "a/1 & <2>A\xc3\xa4");
  EXPECT_EQ(XmlText(contents[0], "Size"), "12");
  EXPECT_EQ(XmlText(contents[1], "Size"), std::nullopt);
  EXPECT_EQ(XmlElements(xml, "ListBucketResult").size(), 1U);
  EXPECT_EQ(XmlText(xml, "Empty"), "");
}

TEST(XmlText, DamagedTextGivesNothing) {
  for (const char* xml :
       {"", "<", "<Key", "<Key>", "<Key>a", "<Key>a</Ke", "</Key>", "<Keys>a</Keys>"}) {
    EXPECT_EQ(XmlText(xml, "Key"), std::nullopt) << xml;
  }
  EXPECT_EQ(XmlText("<K>&nonsense; & &#xzz; &#9999999999;</K>", "K"),
            "&nonsense; & &#xzz; &#9999999999;");
}

TEST(XmlText, EscapingAndBack) {
  const std::string text = "a<b>&\"c'";
  EXPECT_EQ(XmlText("<K>" + XmlEscaped(text) + "</K>", "K"), text);
}

TEST(XmlText, Times) {
  EXPECT_EQ(SecondsOfIsoTime("2024-02-29T12:34:56.789Z"), 1709210096);
  EXPECT_EQ(SecondsOfIsoTime("2024-02-29T12:34:56Z"), 1709210096);
  EXPECT_EQ(SecondsOfHttpTime("Thu, 29 Feb 2024 12:34:56 GMT"), 1709210096);
  EXPECT_EQ(SecondsOfIsoTime("yesterday"), std::nullopt);
  EXPECT_EQ(SecondsOfHttpTime("Thu, 29 Fob 2024 12:34:56 GMT"), std::nullopt);
}

}  // namespace
}  // namespace kinjo::io
