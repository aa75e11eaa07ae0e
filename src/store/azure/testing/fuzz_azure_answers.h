#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_errors.h"
#include "store/azure/azure_upload.h"
#include "store/object_store.h"
#include "sys/http.h"

// What must hold for every answer, however broken: the fuzzer looks for one that breaks it, and a
// test replays every answer that was ever interesting.
namespace outlast::store::testing {

inline bool fit_to_be_shown(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// The input as an answer: lines of headers, an empty line, a body.
inline sys::HttpResponse answer_of(std::string_view input, int status) {
  sys::HttpResponse answer{.status = status};
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
  }
  answer.body = input;
  return answer;
}

// Aborts if a promise of a parser is broken.
inline void fuzz_azure_answers(std::string_view input) {
  if (const auto page = parse_azure_list(input)) {
    OUTLAST_CHECK(std::ranges::is_sorted(page->objects, {}, &ObjectInfo::key), "not sorted");
    OUTLAST_CHECK(std::ranges::is_sorted(page->folders), "not sorted");
    for (const ObjectInfo& object : page->objects) {
      OUTLAST_CHECK(!object.key.empty() && !object.version.empty(), "nothing in '{}'", object.key);
      const std::string etag = azure_etag(object.version);
      OUTLAST_CHECK(etag.size() > 2 && fit_to_be_shown(etag), "an ETag no header can hold");
      OUTLAST_CHECK(etag.find('"', 1) == etag.size() - 1, "a quote within {}", etag);
    }
  }
  if (const auto blocks = parse_azure_blocks(input)) {
    for (const AzureBlock& block : *blocks) {
      OUTLAST_CHECK(!block.id.empty(), "a block without a name");
      if (const std::optional<AzureBlockId> id = parse_block_id(block.id)) {
        OUTLAST_CHECK(format_block_id(*id) == block.id, "'{}' is another id", block.id);
      }
    }
  }
  for (const int status : {200, 206, 400, 403, 404, 409, 412, 500, 503}) {
    const sys::HttpResponse answer = answer_of(input, status);
    if (const auto object = parse_azure_object("key", answer)) {
      OUTLAST_CHECK(!object->version.empty(), "an object without a version");
    }
    const AzureProblem problem = parse_azure_problem(answer);
    OUTLAST_CHECK(fit_to_be_shown(problem.code) && problem.code.size() <= 200, "a code to hide");
    for (const auto proof : {AzureAttempt::Proof::kSharedKey, AzureAttempt::Proof::kSas}) {
      const Error error = azure_error(
          {.what = "put it", .account = "acc", .container = "jobs", .proof = proof}, answer);
      OUTLAST_CHECK(error.sentence().starts_with("put it: "), "{}", error.sentence());
      OUTLAST_CHECK(fit_to_be_shown(error.sentence()), "{}", error.sentence());
    }
  }
}

}  // namespace outlast::store::testing
