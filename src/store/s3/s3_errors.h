#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"
#include "sys/http.h"

// Refusals as errors: what a program may do about them, and what a person may. Pure.
namespace outlast::store::s3 {

enum class Operation {
  kPut,
  kGet,
  kHead,
  kRemove,
  kList,
  kHeadBucket,
  kStartUpload,
  kPutPart,
  kListParts,
  kComplete,
  kAbort,
};

struct OperationTraits {
  std::string_view method = {};
  std::string_view verb = {};        // "put": begins a sentence, before the URL
  std::string_view permission = {};  // what a policy must allow
  bool writes = false;
};
const OperationTraits& traits_of(Operation operation);
// "put s3://bucket/key".
std::string what(Operation operation, std::string_view url);

// An answer that is not 2xx.
struct Refused {
  Operation operation = Operation::kGet;
  int status = 0;
  const Refusal* refusal = nullptr;
  std::optional<Duration> retry_after = {};
  std::string_view url = {};          // "s3://bucket/key"
  std::string_view server = {};       // "https://s3.us-east-1.amazonaws.com"
  std::string_view region = {};       // that was signed for
  std::string_view credentials = {};  // where they come from; may be empty
};
// 412 is kConditionFailed, and 404 of anything is kNotFound: a caller that knows better says it
// itself. A write is kUnknownOutcome if the answer leaves open whether it happened.
Error error_of(const Refused& refused);

// kAlreadyExists or kConditionFailed: the condition of a write to `url` was lost.
Error lost(Operation operation, std::string_view url, const WriteIf& condition);

}  // namespace outlast::store::s3
