#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/object_store.h"
#include "sys/http.h"

// What Azure Blob Storage answers, as values, and the one body that it is sent. Pure; every answer
// may be hostile. kCorrupt if it cannot be what Azure says.
namespace outlast::store {

// Blob metadata, so that the CRC-32C of an object is known wherever it was written by us: eight hex
// digits. Azure wants names that are identifiers of C#: no '-'.
inline constexpr std::string_view kAzureCrc32cHeader = "x-ms-meta-outlastcrc32c";

// A page of List Blobs. Folders of a hierarchical name space, which Azure lists as blobs, are left
// out. What Azure lists is ordered here as our keys are.
Result<ListPage> parse_azure_list(std::string_view body);

struct AzureBlock {
  std::string id = {};  // base64
  std::uint64_t size = 0;
};
// The uncommitted blocks of Get Block List.
Result<std::vector<AzureBlock>> parse_azure_blocks(std::string_view body);
// The body of Put Block List: the blob is to be these, in this order.
std::string azure_block_list(const std::vector<std::string>& ids);

// The object that the headers of a 200 or 206 to GET or HEAD speak of.
Result<ObjectInfo> parse_azure_object(const std::string& key, const sys::HttpResponse& answer);

// Versions are ETags without their quotes: Azure gives them both ways.
std::string azure_version(std::string_view etag);
// The value of If-Match for a version; one that matches nothing if no ETag can look like that.
std::string azure_etag(std::string_view version);

struct AzureProblem {
  std::string code = {};     // "BlobNotFound"
  std::string message = {};  // the first line of Azure's own words, for people
  std::string detail = {};   // of failed authentication; may quote the request: never shown
};
// What an answer that is no success says of itself; members are empty where it says nothing.
AzureProblem parse_azure_problem(const sys::HttpResponse& answer);

}  // namespace outlast::store
