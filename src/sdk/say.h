#pragma once

#include <string>
#include <string_view>

namespace outlast::sdk {

// One line on stderr, for the person who reads the trainer's output.
void say(std::string_view line);

// What the C library says of an errno.
std::string error_text(int error_number);

}  // namespace outlast::sdk
