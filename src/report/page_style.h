#pragma once

#include <string_view>

namespace outlast::report {

// The CSS of the page: light and dark, from 360 pixels wide, and on paper. Made of classes only:
// the page's policy allows no style but this one.
std::string_view page_style();

}  // namespace outlast::report
