#pragma once

#include <memory>

#include "cloud/credentials.h"
#include "store/azure/azure_client.h"  // IWYU pragma: export: AzureOptions
#include "store/object_store.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {

// A container of Azure Blob Storage, or of what speaks like it. Versions are ETags. The CRC-32C of
// an object is kept in its metadata; objects of others are checked by their MD5, if they have one.
//
// Beyond what ObjectStore asks: a name with a '\' or with a part that ends in '.' is refused,
// because Azure would take it for another one. Keys come in their order within a page; across pages
// they do unless characters beyond U+FFFF and above U+DFFF are mixed, where Azure's own order
// counts. A URL can be signed with the account's key only; with other credentials signed_url() is
// kInvalidArgument.
//
// All three must outlive it, and it must outlive the uploads that it starts.
std::unique_ptr<ObjectStore> make_azure_store(
    AzureOptions options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::AzureAuth>& credentials);

}  // namespace outlast::store
