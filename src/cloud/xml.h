#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outlast::cloud {

// An element of an XML answer. Attributes, comments and name-space prefixes are dropped; entities
// are decoded. A value.
struct XmlElement {
  std::string name = {};
  std::string text = {};  // of this element itself, not of those inside it
  std::vector<XmlElement> children = {};

  // The first child of this name, or nullptr.
  const XmlElement* child(std::string_view child_name) const;
  // The text of that child; "" if there is none.
  std::string_view child_text(std::string_view child_name) const;
};

// Parses one whole document and gives its root. kCorrupt if it is not XML (an HTML error page, a cut
// answer), or is nested deeper than 32 levels. `text` may be hostile.
Result<XmlElement> parse_xml(std::string_view text);

// `text` with & < > " ' as entities: for building request bodies.
std::string xml_escape(std::string_view text);

}  // namespace outlast::cloud
