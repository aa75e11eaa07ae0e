#include "sys/posix_world.h"

#include "sys/posix_clock.h"
#include "sys/posix_console.h"
#include "sys/posix_environment.h"
#include "sys/posix_file_system.h"
#include "sys/posix_file_watch.h"
#include "sys/posix_http_client.h"
#include "sys/posix_http_server.h"
#include "sys/posix_local_socket.h"
#include "sys/posix_own_signals.h"
#include "sys/posix_process.h"
#include "sys/posix_process_family.h"
#include "sys/posix_shared_memory.h"
#include "sys/posix_threads.h"

namespace outlast::sys {

RealWorld::RealWorld()
    : clock_(make_posix_clock()),
      threads_(make_posix_threads()),
      files_(make_posix_file_system()),
      file_watches_(make_posix_file_watches()),
      processes_(make_posix_process_launcher()),
      process_families_(make_posix_process_families()),
      own_signals_(make_posix_own_signals()),
      environment_(make_posix_environment()),
      console_(make_posix_console()),
      http_(make_posix_http_client()),
      http_servers_(make_posix_http_servers()),
      local_sockets_(make_posix_local_sockets()),
      shared_memories_(make_posix_shared_memories()),
      random_(environment_->entropy()),
      world_{.clock = *clock_,
             .threads = *threads_,
             .files = *files_,
             .file_watches = *file_watches_,
             .processes = *processes_,
             .process_families = *process_families_,
             .own_signals = *own_signals_,
             .environment = *environment_,
             .console = *console_,
             .http = *http_,
             .http_servers = *http_servers_,
             .local_sockets = *local_sockets_,
             .shared_memories = *shared_memories_,
             .random = random_} {}

RealWorld::~RealWorld() = default;

}  // namespace outlast::sys
