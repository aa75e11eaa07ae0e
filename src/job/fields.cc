#include "job/fields.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/place.h"
#include "job/value_kinds.h"

namespace outlast::job {
namespace {

using Shape = ValueType::Shape;

constexpr std::array<Field, 2> kGitFields = {{
    {.key = "url",
     .type = &kinds::kGitUrl,
     .required = true,
     .doc = "Where to clone from. Not with a password in it: the job is stored in the root."},
    {.key = "revision",
     .type = &kinds::kGitRevision,
     .default_yaml = "HEAD",
     .doc = "The branch, tag or commit to check out."},
}};
constexpr Record kGitRecord = {.what = "git", .fields = kGitFields};
constexpr ValueType kGit = {
    .shape = Shape::kRecord, .expected = "a mapping with url and revision", .record = &kGitRecord};

constexpr std::array<Field, 3> kCheckpointFields = {{
    {.key = "dir",
     .type = &kinds::kCheckpointDir,
     .default_yaml = "auto",
     .doc =
         "The folder the trainer writes checkpoints to. auto: found by watching what it writes."},
    {.key = "every",
     .type = &kinds::kEvery,
     .default_yaml = "auto",
     .doc = "How often to save. auto: from the measured cost of a save and the risk of the place."},
    {.key = "keep",
     .type = &kinds::kKeep,
     .default_yaml = "3",
     .doc = "How many checkpoints to keep; the oldest go first."},
}};
constexpr Record kCheckpointRecord = {.what = "checkpoint", .fields = kCheckpointFields};
constexpr ValueType kCheckpoint = {.shape = Shape::kRecord,
                                   .expected = "auto, or a mapping with dir, every and keep",
                                   .words = kinds::kAutoWords,
                                   .record = &kCheckpointRecord};

constexpr std::array<Field, 2> kExitCodesFields = {{
    {.key = "left",
     .type = &kinds::kExitCode,
     .default_yaml = "75",
     .doc = "Saved and left: go on from what was saved, here or elsewhere."},
    {.key = "never",
     .type = &kinds::kExitCode,
     .default_yaml = "78",
     .doc = "Trying again is no use: the job has failed, whatever retries are left."},
}};
constexpr Record kExitCodesRecord = {.what = "exit_codes", .fields = kExitCodesFields};
constexpr ValueType kExitCodes = {.shape = Shape::kRecord,
                                  .expected = "a mapping with left and never",
                                  .record = &kExitCodesRecord};

constexpr std::array<Field, 1> kProgressFields = {{
    {.key = "regex",
     .type = &kinds::kProgressRegex,
     .default_yaml = "auto",
     .doc =
         "Looked for in each line; its groups are named step, total, epoch, rate, or as a metric "
         "such "
         "as loss. auto: tqdm, Keras, Lightning, Hugging Face, and lines like epoch 3 step 400."},
}};
constexpr Record kProgressRecord = {.what = "progress", .fields = kProgressFields};
constexpr ValueType kProgress = {.shape = Shape::kRecord,
                                 .expected = "auto, or a mapping with regex",
                                 .words = kinds::kAutoWords,
                                 .record = &kProgressRecord};

constexpr CloudSet kSlurm = cloud_bit(Cloud::kSlurm);
constexpr CloudSet kSsh = cloud_bit(Cloud::kSsh);
constexpr CloudSet kRented =
    cloud_bit(Cloud::kGcp) | cloud_bit(Cloud::kAws) | cloud_bit(Cloud::kAzure);

constexpr std::array<Field, 15> kPlaceFields = {{
    {.key = "cloud", .type = &kinds::kCloud, .required = true, .doc = "Who runs the machine."},
    {.key = "machine",
     .type = &kinds::kMachine,
     .doc = "The machine type: n2-standard-8, m6i.2xlarge, Standard_D8s_v5.",
     .taken_by = kRented,
     .required_by = kRented},
    {.key = "region",
     .type = &kinds::kRegion,
     .if_absent = "any region",
     .doc = "Only machines in this region.",
     .taken_by = kRented},
    {.key = "zone",
     .type = &kinds::kZone,
     .if_absent = "any zone",
     .doc = "Only machines in this zone.",
     .taken_by = kRented},
    {.key = "image",
     .type = &kinds::kImage,
     .if_absent = "the cloud's standard image",
     .doc = "The machine image to start from.",
     .taken_by = kRented},
    {.key = "disk",
     .type = &kinds::kDisk,
     .if_absent = "as large as the image",
     .doc = "The size of the machine's disk.",
     .taken_by = kRented},
    {.key = "max_price",
     .type = &kinds::kPrice,
     .if_absent = "any price",
     .doc = "The place is not used while an hour costs more than this.",
     .taken_by = kRented},
    {.key = "spot",
     .type = &kinds::kSpot,
     .if_absent = "as the job's spot",
     .doc = "Spot machines in this place, instead of what the job says.",
     .taken_by = kRented},
    {.key = "partition",
     .type = &kinds::kSlurmName,
     .if_absent = "the cluster's default",
     .doc = "The partition to submit to.",
     .taken_by = kSlurm},
    {.key = "account",
     .type = &kinds::kSlurmName,
     .if_absent = "the user's default",
     .doc = "The account to charge.",
     .taken_by = kSlurm},
    {.key = "qos",
     .type = &kinds::kSlurmName,
     .if_absent = "the partition's default",
     .doc = "The quality of service to ask for.",
     .taken_by = kSlurm},
    {.key = "constraint",
     .type = &kinds::kConstraint,
     .if_absent = "any node",
     .doc = "Features a node must have.",
     .taken_by = kSlurm},
    {.key = "host",
     .type = &kinds::kHost,
     .doc = "The machine to log in to.",
     .taken_by = kSsh,
     .required_by = kSsh},
    {.key = "user",
     .type = &kinds::kUser,
     .if_absent = "as ssh is configured",
     .doc = "The user to log in as.",
     .taken_by = kSsh},
    {.key = "port",
     .type = &kinds::kPort,
     .if_absent = "as ssh is configured",
     .doc = "The port to log in through.",
     .taken_by = kSsh},
}};
constexpr Record kPlaceRecord = {
    .what = "an entry of places", .fields = kPlaceFields, .by_cloud = true};
constexpr ValueType kPlace = {.shape = Shape::kRecord,
                              .expected = "a mapping such as {cloud: gcp, machine: n2-standard-8}",
                              .record = &kPlaceRecord};
constexpr ValueType kPlaces = {
    .shape = Shape::kList, .expected = "a list of places", .item = &kPlace, .may_be_empty = false};

constexpr std::array<Field, 2> kNotifyFields = {{
    {.key = "webhook",
     .type = &kinds::kWebhook,
     .required = true,
     .doc = "The URL that gets a POST with the event as JSON."},
    {.key = "on",
     .type = &kinds::kNotifyOn,
     .default_yaml = "[stuck, done, failed, over-budget]",
     .doc = "The events to be told about."},
}};
constexpr Record kNotifyRecord = {.what = "notify", .fields = kNotifyFields};
constexpr ValueType kNotify = {
    .shape = Shape::kRecord, .expected = "a mapping with webhook and on", .record = &kNotifyRecord};

constexpr std::array<Field, 23> kJobFields = {{
    {.key = "name",
     .type = &kinds::kName,
     .required = true,
     .doc = "What the job is called, in its root and everywhere else."},
    {.key = "root",
     .type = &kinds::kRoot,
     .default_yaml = "./outlast-root",
     .doc = "Where the job lives: a folder, or a bucket that every machine can reach."},
    {.key = "run",
     .type = &kinds::kCommand,
     .required = true,
     .doc = "The command that trains; /bin/sh runs it in the work folder."},
    {.key = "env",
     .type = &kinds::kEnv,
     .default_yaml = "{}",
     .doc =
         "Environment variables for setup and run. They are stored in the root: not for secrets."},
    {.key = "files",
     .type = &kinds::kFiles,
     .default_yaml = "[]",
     .doc = "Files and folders beside the job file that travel with the job."},
    {.key = "git",
     .type = &kGit,
     .if_absent = "nothing is cloned",
     .doc = "A repository that is cloned into the work folder, before the files are put there."},
    {.key = "setup",
     .type = &kinds::kCommand,
     .if_absent = "nothing is run before",
     .doc = "A command that prepares a fresh machine; it runs once per attempt, before run."},
    {.key = "container",
     .type = &kinds::kContainer,
     .if_absent = "directly on the machine",
     .doc = "The container image that setup and run run in."},
    {.key = "checkpoint",
     .type = &kCheckpoint,
     .default_yaml = "auto",
     .doc = "What is saved, when, and how much of it is kept."},
    {.key = "places",
     .type = &kPlaces,
     .default_yaml = "[{cloud: local}]",
     .doc = "Where the job may run."},
    {.key = "order",
     .type = &kinds::kOrder,
     .default_yaml = "price",
     .doc = "Which place is tried first: the cheapest, or the first in the list."},
    {.key = "spot",
     .type = &kinds::kSpot,
     .default_yaml = "prefer",
     .doc =
         "Whether to use spot machines. prefer: on-demand ones only when there are none, or when "
         "the deadline needs them."},
    {.key = "deadline",
     .type = &kinds::kDeadline,
     .default_yaml = "none",
     .doc =
         "The job must be done so long after it was submitted; outlast pays for on-demand machines "
         "where that needs it."},
    {.key = "budget",
     .type = &kinds::kBudget,
     .default_yaml = "none",
     .doc = "The most the job may cost. When it is reached, the job is saved and stopped."},
    {.key = "grace",
     .type = &kinds::kGrace,
     .default_yaml = "30s",
     .doc =
         "How long a machine still has after it was told to end with SIGTERM, where nothing says "
         "it better."},
    {.key = "lifetime",
     .type = &kinds::kLifetime,
     .default_yaml = "none",
     .doc = "Machines of this kind end by themselves after this time. outlast saves before it."},
    {.key = "retries",
     .type = &kinds::kRetries,
     .default_yaml = "3",
     .doc = "How often a trainer that failed is started again. Preemptions never count."},
    {.key = "exit_codes",
     .type = &kExitCodes,
     .default_yaml = "{left: 75, never: 78}",
     .doc = "What the trainer says by its exit code. 0 is done, every other one a failure."},
    {.key = "progress",
     .type = &kProgress,
     .default_yaml = "auto",
     .doc = "How steps, epochs and metrics are found in what the trainer prints."},
    {.key = "on_done",
     .type = &kinds::kOnDone,
     .default_yaml = "shutdown",
     .doc = "What becomes of the machine when the job is done."},
    {.key = "on_failed",
     .type = &kinds::kOnFailed,
     .default_yaml = "shutdown",
     .doc =
         "What becomes of the machine when the job has failed; keep 30m leaves time for a look."},
    {.key = "cache",
     .type = &kinds::kCache,
     .default_yaml = "[]",
     .doc = "Folders that are carried to the next machine: a virtual environment, downloads."},
    {.key = "notify",
     .type = &kNotify,
     .if_absent = "nobody is told",
     .doc = "Whom to tell what happens."},
}};
constexpr Record kJobRecord = {.what = "a job", .fields = kJobFields};

}  // namespace

const Record& job_record() {
  return kJobRecord;
}

const Record& place_record() {
  return kPlaceRecord;
}

std::string expectation(const ValueType& type) {
  if (type.shape == Shape::kCount) {
    return fmt::format("a whole number from {} to {}", type.min, type.max);
  }
  if (type.expected.empty()) return join_words(type.words, "or");
  const bool of_words = type.shape == Shape::kList && type.item->expected.empty();
  if (!of_words || type.item->words.empty()) return std::string(type.expected);
  return fmt::format("{}: {}", type.expected, join_words(type.item->words, "and"));
}

std::string join_words(std::span<const std::string_view> words, std::string_view conjunction) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? fmt::format(" {} ", conjunction) : ", ";
    joined += words[i];
  }
  return joined;
}

std::string join_clouds(CloudSet clouds, std::string_view conjunction) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < kCloudWords.size(); ++i) {
    if ((clouds & cloud_bit(static_cast<Cloud>(i))) != 0) words.push_back(kCloudWords.at(i));
  }
  return join_words(words, conjunction);
}

}  // namespace outlast::job
