#include "store/azure/azure_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "cloud/xml.h"
#include "store/object_store.h"
#include "sys/http.h"

namespace outlast::store {
namespace {

Error unexpected_answer(std::string_view what) {
  return {ErrorCode::kCorrupt, "Azure's answer " + std::string(what)};
}

// The name of a blob or a folder; percent-encoded by Azure if XML could not hold it.
Result<std::string> name_in(const cloud::XmlElement& element) {
  const cloud::XmlElement* const name = element.child("Name");
  if (name == nullptr || name->text.empty()) return unexpected_answer("has a blob without a name");
  if (name->attribute("Encoded") != "true") return name->text;
  auto decoded = cloud::percent_decode(name->text);
  if (!decoded) return unexpected_answer("has a name that is not percent-encoded as it says");
  return decoded;
}

Result<ObjectInfo> object_in(const cloud::XmlElement& blob, const cloud::XmlElement& properties) {
  ObjectInfo object;
  OUTLAST_TRY_ASSIGN(object.key, name_in(blob));
  const auto size = parse_number<std::uint64_t>(properties.child_text("Content-Length"));
  object.version = azure_version(properties.child_text("Etag"));
  const auto modified = cloud::parse_http_date(properties.child_text("Last-Modified"));
  if (!size || object.version.empty() || !modified) {
    return unexpected_answer("has a blob without size, ETag or date");
  }
  object.size = *size;
  object.modified = *modified;
  return object;
}

// "bytes 0-9/100": 100.
std::optional<std::uint64_t> size_in_range(std::string_view content_range) {
  const std::size_t slash = content_range.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint64_t>(content_range.substr(slash + 1));
}

// One line of somebody else's text, fit to stand in a sentence of ours.
std::string first_line(std::string_view text) {
  std::string line(text.substr(0, std::min(text.find_first_of("\r\n"), std::size_t{200})));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!line.empty() && (line.back() == '.' || line.back() == ' ')) line.pop_back();
  return line;
}

}  // namespace

Result<ListPage> parse_azure_list(std::string_view body) {
  OUTLAST_TRY_ASSIGN(const cloud::XmlElement root, cloud::parse_xml(body));
  const cloud::XmlElement* const blobs = root.child("Blobs");
  if (root.name != "EnumerationResults" || blobs == nullptr) {
    return unexpected_answer("is not a list of blobs");
  }
  ListPage page;
  page.next = root.child_text("NextMarker");
  for (const cloud::XmlElement& element : blobs->children) {
    if (element.name == "BlobPrefix") {
      OUTLAST_TRY_ASSIGN(std::string folder, name_in(element));
      page.folders.push_back(std::move(folder));
    } else if (element.name == "Blob") {
      const cloud::XmlElement* const properties = element.child("Properties");
      if (properties == nullptr) return unexpected_answer("has a blob without properties");
      if (properties->child_text("ResourceType") == "directory") continue;
      OUTLAST_TRY_ASSIGN(ObjectInfo object, object_in(element, *properties));
      page.objects.push_back(std::move(object));
    }
  }
  std::ranges::sort(page.objects, {}, &ObjectInfo::key);
  std::ranges::sort(page.folders);
  return page;
}

Result<std::vector<AzureBlock>> parse_azure_blocks(std::string_view body) {
  OUTLAST_TRY_ASSIGN(const cloud::XmlElement root, cloud::parse_xml(body));
  if (root.name != "BlockList") return unexpected_answer("is not a list of blocks");
  std::vector<AzureBlock> blocks;
  const cloud::XmlElement* const uncommitted = root.child("UncommittedBlocks");
  if (uncommitted == nullptr) return blocks;
  for (const cloud::XmlElement& element : uncommitted->children) {
    if (element.name != "Block") continue;
    const auto size = parse_number<std::uint64_t>(element.child_text("Size"));
    std::string id(element.child_text("Name"));
    if (id.empty() || !size) return unexpected_answer("has a block without name or size");
    blocks.push_back({.id = std::move(id), .size = *size});
  }
  return blocks;
}

std::string azure_block_list(const std::vector<std::string>& ids) {
  std::string body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (const std::string& id : ids) body += "<Latest>" + id + "</Latest>";
  return body + "</BlockList>";
}

Result<ObjectInfo> parse_azure_object(const std::string& key, const sys::HttpResponse& answer) {
  const auto header = [&](std::string_view name) {
    return sys::find_header(answer.headers, name).value_or("");
  };
  const auto size = answer.status == 206 ? size_in_range(header("Content-Range"))
                                         : parse_number<std::uint64_t>(header("Content-Length"));
  const auto modified = cloud::parse_http_date(header("Last-Modified"));
  ObjectInfo object{.key = key, .version = azure_version(header("ETag"))};
  if (!size || object.version.empty() || !modified) {
    return unexpected_answer("lacks Content-Length, ETag or Last-Modified: is this Azure?");
  }
  object.size = *size;
  object.modified = *modified;
  const std::string_view crc32c = header(kAzureCrc32cHeader);
  if (crc32c.size() == 8) object.crc32c = parse_number<std::uint32_t>(crc32c, 16);
  return object;
}

std::string azure_version(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

std::string azure_etag(std::string_view version) {
  const auto fits = [](char c) { return c > 0x20 && c < 0x7f && c != '"'; };
  const bool sound = !version.empty() && std::all_of(version.begin(), version.end(), fits);
  // Never a bare *, which means any version.
  return "\"" + (sound ? std::string(version) : "0x0") + "\"";
}

AzureProblem parse_azure_problem(const sys::HttpResponse& answer) {
  AzureProblem problem;
  if (const auto root = cloud::parse_xml(answer.body); root && root->name == "Error") {
    problem = {.code = std::string(root->child_text("Code")),
               .message = first_line(root->child_text("Message")),
               .detail = std::string(root->child_text("AuthenticationErrorDetail"))};
  }
  // A HEAD has no body.
  if (const auto code = sys::find_header(answer.headers, "x-ms-error-code")) problem.code = *code;
  problem.code = first_line(problem.code);
  return problem;
}

}  // namespace outlast::store
