#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "base/result.h"
#include "store/object_store.h"
#include "store/s3/s3_answers.h"
#include "sys/http.h"

// What must hold for every answer, however broken: the fuzzer looks for one that breaks it, and a
// test replays every one that was ever interesting.
namespace outlast::store::s3::testing {

// What may stand in a sentence.
inline void check_presentable(std::string_view text) {
  OUTLAST_CHECK(text.size() < 400, "{} bytes", text.size());
  for (const char c : text) {
    OUTLAST_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "control character");
  }
}

// What may be sent back in a header.
inline void check_version(const std::string& version) {
  OUTLAST_CHECK(is_version(version), "the version '{}' cannot be sent back", version);
  const auto again = read_etag("\"" + version + "\"");
  OUTLAST_CHECK(again && *again == version, "the version '{}' becomes another", version);
}

template <typename T>
inline void check_error(const Result<T>& result) {
  if (result) return;
  OUTLAST_CHECK(result.error().code() == ErrorCode::kFailed, "another code");
  check_presentable(result.error().sentence());
}

inline void check_refusal(const Refusal& refusal) {
  for (const std::string& text : {refusal.code, refusal.message, refusal.region, refusal.request}) {
    check_presentable(text);
  }
}

inline void check_bodies(std::string_view body) {
  check_refusal(read_refusal(body));
  const auto page = read_list(body);
  check_error(page);
  if (page) {
    for (const ObjectInfo& object : page->objects) {
      OUTLAST_CHECK(!object.key.empty(), "an object without a name");
      check_version(object.version);
    }
  }
  check_error(read_upload_id(body));
  const auto parts = read_parts(body);
  check_error(parts);
  if (parts) {
    for (const StoredPart& part : parts->parts) {
      OUTLAST_CHECK(part.number > 0, "a part without a number");
      check_version(part.etag);
    }
  }
  const auto completion = read_completion(body);
  check_error(completion);
  if (!completion) return;
  if (completion->refusal) check_refusal(*completion->refusal);
  if (!completion->etag.empty()) check_version(completion->etag);
}

// Headers as "name: value" lines; the first byte chooses the status.
inline void check_headers(std::string_view text) {
  sys::HttpResponse answer{.status = text.starts_with('p') ? 206 : 200};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
  }
  const auto headers = read_object_headers("k", answer);
  check_error(headers);
  if (!headers) return;
  check_version(headers->object.version);
  OUTLAST_CHECK(headers->offset <= headers->object.size, "begins past the end");
}

// Aborts if a promise of s3_answers.h is broken.
inline void fuzz_s3_answers(std::string_view input) {
  check_bodies(input);
  check_headers(input);
  if (const auto crc32c = parse_crc32c(input)) {
    OUTLAST_CHECK(format_crc32c(*crc32c) == input, "a checksum has two forms");
  }
}

}  // namespace outlast::store::s3::testing
