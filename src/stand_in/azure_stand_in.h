#pragma once

#include <memory>

#include "stand_in/service.h"

namespace outlast::stand_in {

// Microsoft's: "Metadata: true" and a version that there is, or nothing (400). Events are
// scheduled, and start when their time has come or when somebody says that they may.
std::unique_ptr<Service> make_azure_stand_in();

}  // namespace outlast::stand_in
