#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {

// The metadata server of a Google machine or pod: at GCE_METADATA_HOST, _IP or _URL, else at its
// address or by its name, whichever answers. An answer without "Metadata-Flavor: Google" is
// somebody else's, and kUnavailable. Confined to its owner.
class GceMetadata {
 public:
  explicit GceMetadata(sys::World& world);

  struct Value {
    std::string text = {};  // without the blanks around it
    std::string etag = {};  // "" if the server does not tell
  };
  // Of a key: "instance/preempted". kNotFound if there is no such key.
  Result<Value> get(std::string_view key, const sys::CallContext& ctx);
  // The same as soon as it is another than the one with this etag; after a minute, whatever it is.
  Result<Value> wait_for_change(std::string_view key, const std::string& etag,
                                const sys::CallContext& ctx);

  // Whether such a server is there, in whatever state.
  bool is_here(const sys::CallContext& ctx);

 private:
  struct Question {
    std::string path = {};
    Duration patience = {};
  };
  Result<sys::HttpResponse> ask(const Question& question, const sys::CallContext& ctx);
  Result<Value> read(const Question& question, const sys::CallContext& ctx);

  sys::HttpClient& http_;
  sys::Clock& clock_;
  std::vector<std::string> endpoints_;
  std::size_t current_ = 0;  // the one that answered last
};

}  // namespace outlast::notice
