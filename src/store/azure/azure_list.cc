#include "store/azure/azure_list.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cloud/url_encoding.h"
#include "store/azure/azure_answers.h"
#include "store/azure/azure_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::store {
namespace {

constexpr std::uint32_t kAzurePageMax = 5000;

Result<ListPage> list_page(AzureClient& client, const ListOptions& options,
                           const sys::CallContext& ctx) {
  cloud::Query query = {{"restype", "container"}, {"comp", "list"}};
  if (!options.prefix.empty()) query.emplace_back("prefix", options.prefix);
  if (options.folders) query.emplace_back("delimiter", "/");
  if (!options.page_token.empty()) query.emplace_back("marker", options.page_token);
  query.emplace_back("maxresults", std::to_string(std::min(options.page_max, kAzurePageMax)));
  OUTLAST_TRY_ASSIGN(
      const AzureAnswer answer,
      client.send(
          {.verb = "list", .shown = options.prefix, .query = std::move(query), .long_answer = true},
          ctx));
  if (!answer.ok()) return answer.error();
  return parse_azure_list(answer.http.body).while_doing("list " + client.url_of(options.prefix));
}

// Drops what is not after `start_after`; keeps a folder if something in it is, which for the one
// folder that holds `start_after` has to be asked.
Result<void> leave_out(AzureClient& client, const std::string& start_after, ListPage& page,
                       const sys::CallContext& ctx) {
  std::erase_if(page.objects, [&](const ObjectInfo& object) { return object.key <= start_after; });
  std::vector<std::string> kept;
  for (std::string& folder : page.folders) {
    bool keep = folder > start_after;
    if (start_after.starts_with(folder)) {
      OUTLAST_TRY_ASSIGN(const ListPage inside,
                         list_azure(client, {.prefix = folder, .start_after = start_after}, ctx));
      keep = !inside.objects.empty();
    }
    if (keep) kept.push_back(std::move(folder));
  }
  page.folders = std::move(kept);
  return {};
}

}  // namespace

Result<ListPage> list_azure(AzureClient& client, const ListOptions& options,
                            const sys::CallContext& ctx) {
  if (options.page_max == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "list " + client.url_of(options.prefix) + ": a page of no objects never ends");
  }
  ListOptions at = options;
  while (true) {
    OUTLAST_TRY_ASSIGN(ListPage page, list_page(client, at, ctx));
    if (!options.start_after.empty()) {
      OUTLAST_TRY(leave_out(client, options.start_after, page, ctx));
    }
    if (!page.objects.empty() || !page.folders.empty() || page.next.empty()) return page;
    at.page_token = std::move(page.next);
  }
}

}  // namespace outlast::store
