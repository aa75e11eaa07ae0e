#include "cloud/xml.h"

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"

namespace outlast::cloud {
namespace {

constexpr int kDepthMax = 32;

// Copies `node` and what is inside it; false if that is too deep.
bool copy(const pugi::xml_node& node, int depth, XmlElement& out) {
  if (depth > kDepthMax) return false;
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  out.name = colon == std::string_view::npos ? name : name.substr(colon + 1);
  for (const pugi::xml_attribute attribute : node.attributes()) {
    out.attributes.emplace_back(attribute.name(), attribute.value());
  }
  for (const pugi::xml_node inner : node.children()) {
    if (inner.type() == pugi::node_element) {
      if (!copy(inner, depth + 1, out.children.emplace_back())) return false;
    } else if (inner.type() == pugi::node_pcdata || inner.type() == pugi::node_cdata) {
      out.text += inner.value();
    }
  }
  return true;
}

}  // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
  for (const XmlElement& element : children) {
    if (element.name == child_name) return &element;
  }
  return nullptr;
}

std::string_view XmlElement::child_text(std::string_view child_name) const {
  const XmlElement* element = child(child_name);
  return element == nullptr ? std::string_view() : std::string_view(element->text);
}

std::string_view XmlElement::attribute(std::string_view attribute_name) const {
  for (const auto& [name_of, value] : attributes) {
    if (name_of == attribute_name) return value;
  }
  return {};
}

Result<XmlElement> parse_xml(std::string_view text) {
  pugi::xml_document document;
  // White space of its own counts: an object's name may be a space.
  const pugi::xml_parse_result parsed = document.load_buffer(
      text.data(), text.size(),
      pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol | pugi::parse_ws_pcdata_single,
      pugi::encoding_utf8);
  if (!parsed) return Error(ErrorCode::kCorrupt, "the answer is not XML");
  XmlElement root;
  if (!document.document_element() || !copy(document.document_element(), 1, root)) {
    return Error(ErrorCode::kCorrupt, "the answer is not XML of a form we know");
  }
  return root;
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace outlast::cloud
