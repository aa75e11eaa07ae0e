#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "store/azure/azure_client.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// Large objects as blocks: Put Block for each part, Put Block List to publish them.
//
// Azure keeps no record of an upload, only blocks that wait for a blob of that name to be
// committed, whoever put them. So a block's id tells what belongs together: the upload's nonce, the
// part's index, and the CRC-32C of its bytes, from which that of the whole follows even when
// another process finishes the upload. Two more blocks that are never committed stand for the
// upload itself: one of a byte that marks its begin and plan, and one that marks its end if it was
// aborted. Azure has no call that removes blocks: those of an aborted upload go when the object is
// written, or by themselves after a week.
namespace outlast::store {

// What a block's id says. A value.
struct AzureBlockId {
  enum class Kind { kPart, kBegin, kAbort };
  std::string nonce = {};  // 16 characters
  Kind kind = Kind::kPart;
  std::uint32_t index = 0;   // of a part
  std::uint32_t crc32c = 0;  // of the part's bytes; of the plan for the other two
};
// Base64, and always of the same length, as Azure wants it within one blob.
std::string format_block_id(const AzureBlockId& id);
// nullopt if it is none of ours.
std::optional<AzureBlockId> parse_block_id(std::string_view text);

// `client` must outlive what they return. The key was checked, and the plan against the properties.
Result<std::unique_ptr<Upload>> start_azure_upload(AzureClient& client, const std::string& key,
                                                   const UploadPlan& plan,
                                                   const sys::CallContext& ctx);
Result<std::unique_ptr<Upload>> resume_azure_upload(AzureClient& client, const std::string& key,
                                                    const UploadPlan& plan,
                                                    const Secret<std::string>& token,
                                                    const sys::CallContext& ctx);

}  // namespace outlast::store
