#pragma once

#include <memory>

#include "sys/http_server.h"

namespace outlast::sys {

// Boost.Beast: an accepting thread, and one for each connection (at most 256; the next wait to be
// accepted). Connections are kept until either side closes, or nothing came for two minutes.
std::unique_ptr<HttpServers> make_posix_http_servers();

}  // namespace outlast::sys
