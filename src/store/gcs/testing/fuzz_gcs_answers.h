#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "store/gcs/gcs_answers.h"
#include "store/gcs/gcs_errors.h"
#include "sys/http.h"

// What must hold for every answer, however broken: the fuzzer looks for one that breaks it.
namespace outlast::store::gcs::testing {

// Aborts if a promise of the readers is broken.
inline void fuzz_gcs_answers(std::string_view input) {
  if (const auto object = read_object(input); !object) {
    OUTLAST_CHECK(!object.error().sentence().empty(), "no sentence");
  }
  if (const auto page = read_list(input); page) {
    for (const auto& object : page->objects) {
      OUTLAST_CHECK(!object.version.empty(), "an object without a version");
    }
  }
  const Refusal refusal = read_refusal(input);
  for (const std::string& text : {refusal.reason, refusal.message}) {
    OUTLAST_CHECK(text.size() < 310, "{} bytes", text.size());
    for (const char c : text) {
      OUTLAST_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "control character in: {}",
                    text);
    }
  }
  const std::string value(input.substr(0, 200));
  for (const int status : {200, 206, 308, 400, 403, 404, 412, 503}) {
    const sys::HttpResponse answer{.status = status,
                                   .headers = {{"Content-Range", value},
                                               {"Range", value},
                                               {"x-goog-hash", value},
                                               {"Content-Length", value},
                                               {"Last-Modified", value},
                                               {"Retry-After", value}},
                                   .body = std::string(input)};
    if (const auto headers = read_headers(answer); headers && status == 206) {
      OUTLAST_CHECK(headers->offset < headers->size, "{} of {}", headers->offset, headers->size);
    }
    (void)read_stored_bytes(answer);
    const Error error = refused({.what = "get gs://b/k"}, answer);
    OUTLAST_CHECK(error.sentence().starts_with("get gs://b/k: "), "{}", error.sentence());
  }
  if (const auto crc32c = parse_crc32c(input)) {
    OUTLAST_CHECK(format_crc32c(*crc32c) == input, "{} is read as another", input);
  }
}

}  // namespace outlast::store::gcs::testing
