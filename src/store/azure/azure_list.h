#pragma once

#include "base/result.h"
#include "store/azure/azure_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {

// ObjectStore::list(). Azure cannot begin after a key: what comes before it is asked for and left
// out, page after page, until there is something to give.
Result<ListPage> list_azure(AzureClient& client, const ListOptions& options,
                            const sys::CallContext& ctx);

}  // namespace outlast::store
