#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// HTML and SVG, so that text from outside is never taken for more than text.
namespace outlast::report {

// As text, or as the value of an attribute in double quotes. What is not UTF-8 becomes U+FFFD, a
// control character its visible picture (U+2400…), but for tabs and line ends.
std::string escaped(std::string_view text);

// A length or a place in SVG: at most two decimals; what is not finite is 0.
std::string coordinate(double value);
// "12.34%" of 0.1234; between 0 and 100.
std::string percent(double fraction);

struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

// A document that is written front to back. Everything but names and raw() is escaped. Confined to
// its owner.
class Markup {
 public:
  Markup& open(std::string_view element, Attributes attributes = {});
  // The element that was opened last.
  Markup& close();
  Markup& text(std::string_view text);
  // With nothing but text in it.
  Markup& leaf(std::string_view element, Attributes attributes, std::string_view text);
  // Without content: <meta …/>, <rect …/>.
  Markup& empty(std::string_view element, Attributes attributes);
  // As it is: only for what this program itself has written.
  Markup& raw(std::string_view markup);

  // All of it; every element has to be closed.
  std::string take();

 private:
  void begin(std::string_view element, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace outlast::report
