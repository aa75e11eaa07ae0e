#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/http.h"
#include "sys/world.h"

namespace outlast::notice {

// The metadata service of an Azure machine: at OUTLAST_AZURE_METADATA_ENDPOINT, else at its
// address. Thread-safe.
class AzureMetadata {
 public:
  explicit AzureMetadata(sys::World& world);

  // What is going to happen to this machine and its neighbours; read_azure_events() reads it. Only
  // a 200 is not an error. The first answer of all may take two minutes: that switches the service
  // on.
  Result<sys::HttpResponse> events(Duration patience, const sys::CallContext& ctx);
  // The event with this id may begin now.
  Result<void> start_event(std::string_view id, const sys::CallContext& ctx);

  // What this machine is, as an object. kFailed if it is something else.
  Result<Json> compute(const sys::CallContext& ctx);

  // Whether such a service is there.
  bool is_here(const sys::CallContext& ctx);

 private:
  std::string events_url() const;

  sys::HttpClient& http_;
  sys::Clock& clock_;
  const std::string endpoint_;
};

}  // namespace outlast::notice
