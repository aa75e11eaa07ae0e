#pragma once

#include <memory>

#include "stand_in/service.h"

namespace outlast::stand_in {

// Amazon's, version 2 only: a token or nothing (401), for as long as was asked for. What is not
// announced is not there (404).
std::unique_ptr<Service> make_ec2_stand_in();

}  // namespace outlast::stand_in
