#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace outlast::cloud {

// An element of an XML answer. Comments and name-space prefixes of elements are dropped; entities
// are decoded. A value.
struct XmlElement {
  std::string name = {};
  std::string text = {};  // of this element itself, not of those inside it
  std::vector<XmlElement> children = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};

  // The first child of this name, or nullptr.
  const XmlElement* child(std::string_view child_name) const;
  // The text of that child; "" if there is none.
  std::string_view child_text(std::string_view child_name) const;
  // The value of that attribute; "" if there is none.
  std::string_view attribute(std::string_view attribute_name) const;
};

// Parses one whole document and gives its root. kCorrupt if it is not XML (an HTML error page, a
// cut answer), or is nested deeper than 32 levels. `text` may be hostile.
Result<XmlElement> parse_xml(std::string_view text);

// `text` with & < > " ' as entities: for building request bodies.
std::string xml_escape(std::string_view text);

}  // namespace outlast::cloud
