#pragma once

#include "base/random.h"
#include "sys/clock.h"
#include "sys/console.h"
#include "sys/environment.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/local_socket.h"
#include "sys/own_signals.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/shared_memory.h"
#include "sys/threads.h"

namespace outlast::sys {

// Everything outside the program, as one parameter. main() makes the real one, the simulator one
// for each machine. Code takes the World, or better only the parts it uses.
struct World {
  Clock& clock;
  Threads& threads;
  FileSystem& files;
  FileWatches& file_watches;
  ProcessLauncher& processes;
  ProcessFamilies& process_families;
  OwnSignals& own_signals;
  Environment& environment;
  Console& console;
  HttpClient& http;
  HttpServers& http_servers;
  LocalSockets& local_sockets;
  SharedMemories& shared_memories;
  Random& random;
};

}  // namespace outlast::sys
