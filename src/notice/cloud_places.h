#pragma once

#include <optional>

#include "job/place_facts.h"
#include "notice/azure_metadata.h"
#include "notice/ec2_metadata.h"
#include "notice/gce_metadata.h"
#include "sys/call_context.h"
#include "sys/environment.h"
#include "sys/file_system.h"

// What the places say of themselves. Only what stands in a record of an attempt is asked for: no
// custom metadata and no user data, which hold scripts and secrets.
namespace outlast::notice {

struct PlaceReading {
  job::PlaceFacts facts = {};
  bool is_complete = true;  // false: a service did not answer to all; what it did not is empty
};

PlaceReading read_gce_place(GceMetadata& service, const sys::CallContext& ctx);
PlaceReading read_ec2_place(Ec2Metadata& service, const sys::CallContext& ctx);
PlaceReading read_azure_place(AzureMetadata& service, const sys::CallContext& ctx);

// Of the pod that this is, from its environment; nullopt if it is none. The node's name is there if
// the pod's specification passes it on as NODE_NAME.
std::optional<job::PlaceFacts> read_kubernetes_place(sys::Environment& environment,
                                                     sys::FileSystem& files);

}  // namespace outlast::notice
