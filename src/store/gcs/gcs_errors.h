#pragma once

#include <string>

#include "base/error.h"
#include "store/gcs/gcs_answers.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store::gcs {

// What was asked of Google, for the sentence and for what a refusal means.
struct Attempt {
  enum class Kind {
    kRead,     // changes nothing: an answer of 5xx may be tried again
    kWrite,    // may have happened when the answer is a 5xx
    kSession,  // of an upload that is not complete: nothing visible, may be tried again
  };
  std::string what = {};  // "put gs://bucket/key"
  Kind kind = Kind::kRead;
  bool of_bucket = false;  // it names no object, or makes one: a 404 is the bucket's
  WriteIf::Kind condition = WriteIf::Kind::kAlways;
  std::string credentials = {};  // where they came from; empty: none were sent
};

// True if it says that the bytes are not those that were announced.
bool blames_checksum(const Refusal& refusal);

// True for a 404 that says that the bucket is missing, not the object.
bool is_missing_bucket(const sys::HttpResponse& answer);

// What an answer that is no success means for the caller: the code, and a sentence with the URL,
// what Google said and what to do. Keeps Retry-After.
Error refused(const Attempt& attempt, const sys::HttpResponse& answer);

}  // namespace outlast::store::gcs
