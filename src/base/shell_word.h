#pragma once

#include <string>
#include <string_view>

namespace outlast {

// A word that means itself to a shell, to systemd and to cron.
bool is_plain_word(std::string_view text);
// One word of a /bin/sh command line that means exactly `text`.
std::string shell_word(std::string_view text);

}  // namespace outlast
