#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "stand_in/happening.h"
#include "sys/clock.h"
#include "sys/http_server.h"
#include "sys/threads.h"

// Stand-ins of the clouds' metadata services: as strict as they are, and they say what they are
// told to. For drills, and for whoever wants to see what his program does on a machine that ends.
namespace outlast::stand_in {

// Thread-safe.
class MetadataStandIn {
 public:
  virtual ~MetadataStandIn() = default;

  // Answers requests; to be served where metadata services are. It may be called as long as this
  // object lives.
  virtual sys::HttpHandler handler() = 0;

  // From now on it says, in its cloud's own words, that the machine ends in `left`.
  virtual void announce(Duration left) = 0;
  // It does not say so any more.
  virtual void withdraw() = 0;
  // Anything of happenings_of() its cloud, the two above among them. kInvalidArgument if this is
  // none of it.
  virtual Result<void> happen(const Happening& happening) = 0;
  // How often it was told that what it announced may happen at once (Azure's StartRequests).
  virtual int acknowledgements() const = 0;

  // What a program needs in its environment to find it at `url` ("http://127.0.0.1:1234").
  virtual std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const = 0;

  // Requests that wait for a change, or hang, are answered now: the server is about to end.
  virtual void release_waiting() = 0;
};

// Called with what a person may want to know of the requests that come, by the thread that answers
// them: each acknowledgement, and each kind of request that is refused, once. `event` is a word for
// programs, "acknowledged" or "refused".
using Listener = std::function<void(std::string_view event, const std::string& sentence)>;

// The clouds there are stand-ins of.
std::vector<std::string> stand_in_names();  // "gce", "ec2", "azure"

// kInvalidArgument if there is no such cloud.
Result<std::unique_ptr<MetadataStandIn>> make_stand_in(std::string_view name, sys::Clock& clock,
                                                       sys::Threads& threads,
                                                       Listener listener = {});

}  // namespace outlast::stand_in
