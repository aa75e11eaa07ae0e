#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notice/announcements.h"
#include "notice/metadata_service.h"

// Azure's Scheduled Events, read. Pure.
namespace outlast::notice {

struct AzureAnswer {
  std::string_view body = {};
  ServiceTime now = {};
  Duration grace = {};            // where it leaves the time open
  std::string_view machine = {};  // our own name; "" if it is not known
};

struct AzureNews {
  News news = {};
  // Events that end this machine and nobody else's: they may be told to begin.
  std::vector<std::string> ours_alone = {};
};

// The events reach all machines of a group; those that name others are none of our business. While
// our own name is not known, every one is a hint. kFailed if it is no such document.
Result<AzureNews> read_azure_events(const AzureAnswer& answer);

}  // namespace outlast::notice
