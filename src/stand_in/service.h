#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "stand_in/happening.h"
#include "sys/http.h"
#include "sys/http_server.h"

// What the stand-ins are made of: services that are pure, and what they have in common. Part of the
// module; not for use outside of it.
namespace outlast::stand_in {

struct Moment {
  MonoTime mono = {};
  WallTime wall = {};  // by the stand-in's own clock, which may be wrong
};

// A request, taken apart.
struct Asked {
  std::string method = {};
  std::string path = {};                // as it came, without the query
  std::vector<std::string> parts = {};  // of the path, decoded, without empty ones
  bool is_folder = false;               // the path ends with '/'
  std::map<std::string, std::string, std::less<>> query = {};
  sys::HttpHeaders headers = {};
  std::string body = {};
  // For the service of a request that waits: what it waits to differ from.
  std::optional<std::string> known = {};

  // From the part `first` on, joined by '/'.
  std::string below(std::size_t first) const;
  bool is_read() const { return method == "GET" || method == "HEAD"; }
  std::optional<std::string_view> header(std::string_view name) const;
  // "" if there is none.
  std::string parameter(std::string_view name) const;
};
// kInvalidArgument if it is not encoded as it should be.
Result<Asked> take_apart(const sys::HttpServerRequest& request);

struct Answer {
  sys::HttpResponse response = {};
  // It is the same as what was `known`: ask again when something has changed, or so much later.
  std::optional<Duration> hold = {};
  std::string refusal = {};  // why the request is refused, for people; "": it is not
  std::vector<std::string> acknowledged = {};  // a sentence for each
};
Answer refuse(int status, std::string why, sys::HttpHeaders headers, std::string body);

// What a cloud's metadata service says at a moment. Confined to the stand-in that has it.
class Service {
 public:
  virtual ~Service() = default;
  virtual std::string_view cloud() const = 0;
  // Headers of all its answers, those that a fault makes, too.
  virtual sys::HttpHeaders signature() const { return {}; }
  virtual Answer answer(Asked& asked, const Moment& now) = 0;
  // One of its cloud's rows, or of those that every cloud has, but faults and clocks.
  virtual void happen(const Happening& happening, const Moment& now) = 0;
  virtual std::vector<std::pair<std::string, std::string>> environment(
      const std::string& url) const = 0;
};

// Values by their path: "instance/zone".
using Values = std::map<std::string, std::string, std::less<>>;
// The names in a folder ("" or "instance/"), sorted; of folders with '/' at the end. Empty if there
// is no such folder.
std::vector<std::string> names_in(const Values& values, std::string_view folder);

// "2026-01-07T01:03:47Z": seconds, as clouds write them.
std::string format_seconds(WallTime time);

}  // namespace outlast::stand_in
