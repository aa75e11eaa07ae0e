#include "tests/servers/known_servers.h"

#include <string>
#include <string_view>
#include <vector>

#include "store/testing/store_maker.h"

namespace outlast::store::testing {
namespace {

constexpr const char* kIgnoresConditions = "it ignores the condition";
constexpr const char* kNoUploads = "it refuses the parts of an upload";
constexpr const char* kNoSizeOfNothing = "it does not tell the size of an empty object";
constexpr const char* kIgnoresPages = "it gives everything in one page, whatever is asked";

std::vector<KnownServer> all_known_servers() {
  return {
      {.name = "versitygw",
       .judges_all_conditions = true,
       .deviations = {{"AKeyMayBeTheFolderOfAnother",
                       "its objects are files: a name cannot be a file and a folder"}}},
      {.name = "radosgw",
       .keeps_checksums = false,
       .deviations = {{"RacingReplacementsLoseNoUpdate",
                       "Ceph 16 answers 500 to some that lose, which leaves the outcome open"}}},
      {.name = "minio"},
      {.name = "azurite",
       .deviations = {{"AnyNameIsAGoodName",
                       "Azure takes '\\' for '/' and drops dots at the end of a name"},
                      {"KeysAreOrderedByTheirBytes", "Azure orders names by their UTF-16"}}},
      {.name = "gcs-stand-in"},
      {.name = "fake-gcs-server",
       .deviations = {{"AnAbortedUploadLeavesNothing", "it cannot cancel an upload"},
                      {"AnUploadCanBeResumed", "asking for an upload's state completes it"},
                      {"FoldersStandForWhatIsBelow", "it does not count folders towards a page"},
                      {"RemoveIfNeedsTheVersionOfNow", kIgnoresConditions},
                      {"RemoveIfSparesAnotherVersion", kIgnoresConditions}}},
      // For conditions, also those of removals.
      {.name = "gcsemulator",
       .deviations = {{"AKeyMayBeTheFolderOfAnother",
                       "its objects are files: a name cannot be a file and a folder"},
                      {"APartMayBePutAgain", kNoUploads},
                      {"ARangeIsReadAsFarAsItGoes", kNoSizeOfNothing},
                      {"AReaderSeesOneWriteOrTheOther", "a reader may see half a write"},
                      {"ASlashIsAByteLikeAnyOtherInTheOrder", "it orders folder by folder"},
                      {"AnAbortedUploadLeavesNothing", kNoUploads},
                      {"AnEmptyObjectIsThereAndNeedsNoSink", kNoSizeOfNothing},
                      {"AnUploadCanBeResumed", kNoUploads},
                      {"AnUploadIsSeenOnceItIsComplete", kNoUploads},
                      {"AnUploadReplacesWhatWasThere", kNoUploads},
                      {"AnUploadsConditionIsJudgedWhenItCompletes", kNoUploads},
                      {"AnyNameIsAGoodName", "it orders folder by folder"},
                      {"FoldersStandForWhatIsBelow", "it loses what comes after a page of folders"},
                      {"RacingReplacementsLoseNoUpdate", "a reader may see half a write"},
                      {"RemoveIfNeedsTheVersionOfNow", "what is not there fails its condition"},
                      {"UploadsOfAnySizeAreWhole", kNoUploads},
                      {"WhatWasPutIsRead", kNoSizeOfNothing}}},
      // For resumable uploads.
      {.name = "gcp-storage-emulator",
       .deviations = {{"AReadCanBePinnedToAVersion", kIgnoresConditions},
                      {"AReadTellsWhatItReads", "its reads do not tell the generation"},
                      {"ARangeIsReadAsFarAsItGoes", "it fails on a range past the end"},
                      {"ARangeTellsTheSizeOfTheWhole", "its reads do not tell the generation"},
                      {"ASlashIsAByteLikeAnyOtherInTheOrder", kIgnoresPages},
                      {"AnAbortedUploadLeavesNothing", "it cannot cancel an upload"},
                      {"AnUploadsConditionIsJudgedWhenItCompletes", kIgnoresConditions},
                      {"FoldersStandForWhatIsBelow", kIgnoresPages},
                      {"ImpossiblePlansAndPartsAreRefused", "it cannot cancel an upload"},
                      {"KeysAreOrderedByTheirBytes", kIgnoresPages},
                      {"MoreThanAThousandKeysAreListed", kIgnoresPages},
                      {"OneOfManyRacingWritersWins", kIgnoresConditions},
                      {"PagesAddUp", kIgnoresPages},
                      {"PutIfAbsentWinsOnce", kIgnoresConditions},
                      {"RacingReplacementsLoseNoUpdate", kIgnoresConditions},
                      {"RemoveIfNeedsTheVersionOfNow", kIgnoresConditions},
                      {"RemoveIfSparesAnotherVersion", kIgnoresConditions},
                      {"ReplaceIfNeedsTheVersionOfNow", kIgnoresConditions},
                      {"StartAfterLeavesOutWhatComesBefore", kIgnoresPages}}},
  };
}

}  // namespace

KnownServer known_server(std::string_view name) {
  for (KnownServer& server : all_known_servers()) {
    if (server.name == name) return server;
  }
  return {.name = std::string(name)};
}

}  // namespace outlast::store::testing
