#include "store/s3/s3_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "cloud/xml.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

Error not_understood(std::string_view what) {
  return {ErrorCode::kFailed, fmt::format("the server's answer is not understood: {}", what)};
}

// One line of UTF-8 of at most `bytes_max`.
std::string presentable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = decode_utf8(text, at);
    const std::size_t bytes = character ? character->bytes : 1;
    if (out.size() + bytes > bytes_max) return out + "…";
    if (!character || character->code < 0x20 ||
        (character->code >= 0x7f && character->code < 0xa0)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

Refusal refusal_of(const cloud::XmlElement& error) {
  return {.code = presentable(error.child_text("Code"), 64),
          .message = presentable(error.child_text("Message"), 300),
          .region = presentable(error.child_text("Region"), 64),
          .request = presentable(error.child_text("RequestId"), 64)};
}

// The document's root if it has this name. Servers that work long send blanks before it.
Result<cloud::XmlElement> read_root(std::string_view body, std::string_view name) {
  body.remove_prefix(std::min(body.find_first_not_of(" \t\r\n"), body.size()));
  Result<cloud::XmlElement> root = cloud::parse_xml(body);
  if (!root || root->name != name) return not_understood(fmt::format("it has no <{}>", name));
  return root;
}

bool is_true(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE";
}

// Keys come percent-encoded if we asked for it and the server obeys; blanks as '+'.
Result<std::string> read_key(std::string_view text, bool encoded) {
  if (!encoded) return std::string(text);
  std::string plain(text);
  std::ranges::replace(plain, '+', ' ');
  Result<std::string> key = cloud::percent_decode(plain);
  if (!key) return not_understood("a key is not percent-encoded");
  return key;
}

Result<ObjectInfo> read_listed(const cloud::XmlElement& element, bool encoded) {
  ObjectInfo out;
  OUTLAST_TRY_ASSIGN(out.key, read_key(element.child_text("Key"), encoded));
  if (out.key.empty()) return not_understood("a listed object has no key");
  const auto size = parse_number<std::uint64_t>(element.child_text("Size"));
  if (!size) return not_understood("a listed object has no size");
  out.size = *size;
  OUTLAST_TRY_ASSIGN(out.version, read_etag(element.child_text("ETag")));
  const auto modified = parse_rfc3339(element.child_text("LastModified"));
  if (!modified) return not_understood("a listed object has no time");
  out.modified = *modified;
  return out;
}

// "bytes 0-9/100".
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size = 0;
};
std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  const auto last = parse_number<std::uint64_t>(text.substr(dash + 1, slash - dash - 1));
  const auto size = parse_number<std::uint64_t>(text.substr(slash + 1));
  if (!first || !last || !size || *first > *last || *last >= *size) return std::nullopt;
  return ContentRange{.first = *first, .last = *last, .size = *size};
}

}  // namespace

Refusal read_refusal(std::string_view body) {
  const auto root = read_root(body, "Error");
  return root ? refusal_of(*root) : Refusal{};
}

Result<ListPage> read_list(std::string_view body) {
  OUTLAST_TRY_ASSIGN(const auto root, read_root(body, "ListBucketResult"));
  const bool encoded = root.child_text("EncodingType") == "url";
  ListPage page;
  for (const cloud::XmlElement& element : root.children) {
    if (element.name == "Contents") {
      OUTLAST_TRY_ASSIGN(ObjectInfo object, read_listed(element, encoded));
      page.objects.push_back(std::move(object));
    } else if (element.name == "CommonPrefixes") {
      OUTLAST_TRY_ASSIGN(std::string folder, read_key(element.child_text("Prefix"), encoded));
      page.folders.push_back(std::move(folder));
    }
  }
  if (is_true(root.child_text("IsTruncated"))) {
    page.next = root.child_text("NextContinuationToken");
    if (page.next.empty()) return not_understood("it names no next page, and says there is one");
  }
  return page;
}

Result<std::string> read_upload_id(std::string_view body) {
  OUTLAST_TRY_ASSIGN(const auto root, read_root(body, "InitiateMultipartUploadResult"));
  const std::string_view id = root.child_text("UploadId");
  if (id.empty()) return not_understood("it has no <UploadId>");
  return std::string(id);
}

Result<PartsPage> read_parts(std::string_view body) {
  OUTLAST_TRY_ASSIGN(const auto root, read_root(body, "ListPartsResult"));
  PartsPage page{.checksum_algorithm = std::string(root.child_text("ChecksumAlgorithm")),
                 .checksum_type = std::string(root.child_text("ChecksumType"))};
  for (const cloud::XmlElement& element : root.children) {
    if (element.name != "Part") continue;
    const auto number = parse_number<std::uint64_t>(element.child_text("PartNumber"));
    const auto size = parse_number<std::uint64_t>(element.child_text("Size"));
    if (!number || *number == 0 || !size) return not_understood("a part has no number or size");
    OUTLAST_TRY_ASSIGN(std::string etag, read_etag(element.child_text("ETag")));
    page.parts.push_back({.number = *number,
                          .size = *size,
                          .etag = std::move(etag),
                          .crc32c = parse_crc32c(element.child_text("ChecksumCRC32C"))});
  }
  if (is_true(root.child_text("IsTruncated"))) {
    page.next = parse_number<std::uint64_t>(root.child_text("NextPartNumberMarker"));
    if (!page.next) return not_understood("it names no next page, and says there is one");
  }
  return page;
}

Result<Completion> read_completion(std::string_view body) {
  if (auto error = read_root(body, "Error")) return Completion{.refusal = refusal_of(*error)};
  OUTLAST_TRY_ASSIGN(const auto root, read_root(body, "CompleteMultipartUploadResult"));
  Completion out;
  if (const std::string_view etag = root.child_text("ETag"); !etag.empty() && etag != "\"\"") {
    OUTLAST_TRY_ASSIGN(out.etag, read_etag(etag));
  }
  return out;
}

Result<ObjectHeaders> read_object_headers(const std::string& key, const sys::HttpResponse& answer) {
  ObjectHeaders out{.object = {.key = key}};
  if (answer.status == 206) {
    const auto text = sys::find_header(answer.headers, "Content-Range");
    const auto range = text ? parse_content_range(*text) : std::nullopt;
    if (!range) return not_understood("a part of an object without a Content-Range");
    out.offset = range->first;
    out.object.size = range->size;
  } else {
    const auto size = parse_number<std::uint64_t>(
        sys::find_header(answer.headers, "Content-Length").value_or(""));
    if (!size) return not_understood("an object without a Content-Length");
    out.object.size = *size;
  }
  OUTLAST_TRY_ASSIGN(out.object.version,
                     read_etag(sys::find_header(answer.headers, "ETag").value_or("")));
  const auto modified =
      cloud::parse_http_date(sys::find_header(answer.headers, "Last-Modified").value_or(""));
  if (modified) out.object.modified = *modified;
  // With a part, or of one that was put together from parts, it may be another than the whole's.
  const auto type = sys::find_header(answer.headers, "x-amz-checksum-type");
  if (answer.status != 206 && type.value_or("FULL_OBJECT") == "FULL_OBJECT") {
    const auto sum = sys::find_header(answer.headers, "x-amz-checksum-crc32c");
    if (sum) out.object.crc32c = parse_crc32c(*sum);
  }
  return out;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 256 && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != '\\';
  });
}

Result<std::string> read_etag(std::string_view text) {
  if (text.starts_with("W/")) {
    return Error(ErrorCode::kFailed,
                 "the server, or a proxy before it, gives only a weak ETag, which cannot tell "
                 "versions apart: take the proxy, or its compression, out of the way");
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if (!is_version(text)) return not_understood("an object without an ETag");
  return std::string(text);
}

std::string format_crc32c(std::uint32_t crc32c) {
  std::array<std::byte, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(crc32c >> (24U - 8U * i));
  }
  return base64_encode(bytes);
}

std::optional<std::uint32_t> parse_crc32c(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != 4) return std::nullopt;
  std::uint32_t out = 0;
  for (const std::byte byte : *bytes) out = (out << 8U) | static_cast<std::uint32_t>(byte);
  return out;
}

}  // namespace outlast::store::s3
