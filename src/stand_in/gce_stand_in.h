#pragma once

#include <memory>

#include "stand_in/service.h"

namespace outlast::stand_in {

// Google's: "Metadata-Flavor: Google" or nothing (403), an ETag with every value, folders, the tree
// as JSON or as text, and requests that wait for a change.
std::unique_ptr<Service> make_gce_stand_in();

}  // namespace outlast::stand_in
