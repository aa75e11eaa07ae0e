#pragma once

#include <string>

#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "sys/http.h"

// What the stand-in answers to those who read.
namespace outlast::store::gcs::testing {

// The object's bytes, or the range of them that the request asks for.
sys::HttpResponse media(const StandInObject& object, const StandInRequest& request);
// A page of the bucket's names.
sys::HttpResponse listing(const StandInRequest& request, const StandInBucket& bucket);
sys::HttpResponse refuse_parameter(const std::string& name);

}  // namespace outlast::store::gcs::testing
