#pragma once

#include <memory>

#include "sys/local_socket.h"

namespace outlast::sys {

// Unix sockets that keep messages apart (SOCK_SEQPACKET).
std::unique_ptr<LocalSockets> make_posix_local_sockets();

}  // namespace outlast::sys
