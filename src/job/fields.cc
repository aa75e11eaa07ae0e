#include "job/fields.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/place.h"
#include "job/scalars.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

using Shape = ValueType::Shape;

constexpr std::array<std::string_view, 1> kAutoWords = {"auto"};
constexpr std::array<std::string_view, 1> kNoneWords = {kNone};

// Kinds of value, in the order of the keys that use them.

constexpr ValueType kName = {
    .expected =
        "up to 63 lower-case letters, digits, '-', '_' and '.', with a letter or digit at both "
        "ends",
    .read = read_name,
    .pattern = "^[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?$"};
constexpr ValueType kRoot = {
    .expected =
        "a folder, file:///path, s3://bucket/prefix, gs://bucket/prefix or "
        "az://account/container/prefix",
    .read = read_root,
    .pattern =
        "^(file:///.*|(s3|gs)://[a-z0-9][a-z0-9._-]+[a-z0-9](/.*)?|"
        "az://[a-z0-9]+/[a-z0-9-]+(/.*)?|(?!~)(?!.*://).+)$"};
constexpr ValueType kCommand = {
    .expected = "a shell command", .read = read_command, .pattern = "\\S"};
constexpr ValueType kEnvValue = {
    .expected = "text, or \"\" for an empty one", .read = read_env_value, .pattern = ""};
constexpr ValueType kEnv = {.shape = Shape::kMap,
                            .expected = "a mapping of names to texts",
                            .item = &kEnvValue,
                            .read_key = read_env_name,
                            .key_expected = "letters, digits and '_', with no digit first",
                            .key_pattern = "^(?!OUTLAST_)[A-Za-z_][A-Za-z0-9_]*$"};
constexpr ValueType kFile = {
    .expected = "a path inside the job's folder", .read = read_file, .pattern = "^[^/*?][^*?]*$"};
constexpr ValueType kFiles = {.shape = Shape::kList, .expected = "a list of paths", .item = &kFile};
constexpr ValueType kGitUrl = {
    .expected = "an https://, http://, ssh:// or git:// URL, or user@host:path",
    .read = read_git_url,
    .pattern = "^(https://|http://|ssh://|git://|[A-Za-z0-9_][A-Za-z0-9_.-]*@[^ ]+:)[^ ]+$"};
constexpr ValueType kGitRevision = {.expected = "a branch, tag or commit",
                                    .read = read_git_revision,
                                    .pattern = "^[A-Za-z0-9_/.][A-Za-z0-9_/.:@+=~^-]*$"};
constexpr std::string_view kTokenPattern = "^[A-Za-z0-9_/.][A-Za-z0-9_/.:@+=~^-]*$";
constexpr ValueType kContainer = {.expected = "an image such as registry/image:tag",
                                  .read = read_container,
                                  .pattern = kTokenPattern};
constexpr ValueType kCheckpointDir = {
    .expected = "auto, or a folder inside the work folder, or an absolute path",
    .words = kAutoWords,
    .read = read_checkpoint_dir,
    .pattern = "^[^~]"};
constexpr std::string_view kDurationPattern = "^([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+$";
constexpr ValueType kEvery = {
    .expected = "auto, a duration such as 30m, or a count such as 500 steps or 2 epochs",
    .words = kAutoWords,
    .read = read_every,
    .pattern = "^(([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+|[0-9]+ (steps?|epochs?))$"};
constexpr ValueType kKeep = {.shape = Shape::kCount, .min = 1, .max = 1000};
constexpr ValueType kRetries = {.shape = Shape::kCount, .min = 0, .max = 1000};
constexpr ValueType kPort = {.shape = Shape::kCount, .min = 1, .max = 65535};
constexpr ValueType kCloud = {.words = kCloudWords};
constexpr ValueType kMachine = {.expected = "a machine type as the cloud names it",
                                .read = read_token,
                                .pattern = kTokenPattern};
constexpr ValueType kRegion = {
    .expected = "a region as the cloud names it", .read = read_token, .pattern = kTokenPattern};
constexpr ValueType kZone = {
    .expected = "a zone as the cloud names it", .read = read_token, .pattern = kTokenPattern};
constexpr ValueType kImage = {.expected = "a machine image as the cloud names it",
                              .read = read_token,
                              .pattern = kTokenPattern};
constexpr ValueType kDisk = {.expected = "a size such as 100GB or 50GiB",
                             .read = read_disk,
                             .pattern = "^[0-9]+(\\.[0-9]+)? ?([kKMGTP]i?)?B$"};
constexpr ValueType kPrice = {.expected = "an amount such as 0.35 USD",
                              .read = read_money,
                              .pattern = "^[0-9]+(\\.[0-9]{1,6})? USD$"};
constexpr ValueType kSlurmName = {
    .expected = "a name as Slurm knows it", .read = read_token, .pattern = kTokenPattern};
constexpr ValueType kConstraint = {.expected = "features as sbatch --constraint takes them",
                                   .read = read_constraint,
                                   .pattern = "^[A-Za-z0-9_(\\[][A-Za-z0-9_.:&|*,()\\[\\]!@-]*$"};
constexpr ValueType kHost = {.expected = "a host name or address",
                             .read = read_host,
                             .pattern = "^[A-Za-z0-9:][A-Za-z0-9.:_-]*$"};
constexpr ValueType kUser = {
    .expected = "a user name", .read = read_user, .pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"};
constexpr ValueType kOrder = {.words = kOrderWords};
constexpr ValueType kSpot = {.words = kSpotWords};
constexpr ValueType kDeadline = {.expected = "a duration such as 90m or 12h, or none",
                                 .words = kNoneWords,
                                 .read = read_span,
                                 .pattern = kDurationPattern};
constexpr ValueType kBudget = {.expected = "an amount such as 5.00 USD, or none",
                               .words = kNoneWords,
                               .read = read_money,
                               .pattern = "^[0-9]+(\\.[0-9]{1,6})? USD$"};
constexpr ValueType kOnDone = {.words = kOnDoneWords};
constexpr ValueType kOnFailed = {
    .expected = "shutdown, keep, or keep and a duration such as keep 30m",
    .words = kOnDoneWords,
    .read = read_on_failed,
    .pattern = "^keep ([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+$"};
constexpr ValueType kCachePath = {.expected = "a folder inside the work folder or below ~/",
                                  .read = read_cache,
                                  .pattern = "^[^/]"};
constexpr ValueType kCache = {
    .shape = Shape::kList, .expected = "a list of folders", .item = &kCachePath};
constexpr ValueType kWebhook = {.expected = "an https:// or http:// URL",
                                .read = read_webhook,
                                .pattern = "^https?://[^/?# ][^ ]*$"};
constexpr ValueType kNotifyWord = {.words = kNotifyWords};
constexpr ValueType kNotifyOn = {.shape = Shape::kList,
                                 .expected = "a list of events",
                                 .item = &kNotifyWord,
                                 .may_be_empty = false};

constexpr std::array<Field, 2> kGitFields = {{
    {.key = "url",
     .type = &kGitUrl,
     .required = true,
     .doc = "Where to clone from. Not with a password in it: the job is stored in the root."},
    {.key = "revision",
     .type = &kGitRevision,
     .default_yaml = "HEAD",
     .doc = "The branch, tag or commit to check out."},
}};
constexpr Record kGitRecord = {.what = "git", .fields = kGitFields};
constexpr ValueType kGit = {
    .shape = Shape::kRecord, .expected = "a mapping with url and revision", .record = &kGitRecord};

constexpr std::array<Field, 3> kCheckpointFields = {{
    {.key = "dir",
     .type = &kCheckpointDir,
     .default_yaml = "auto",
     .doc =
         "The folder the trainer writes checkpoints to. auto: found by watching what it writes."},
    {.key = "every",
     .type = &kEvery,
     .default_yaml = "auto",
     .doc = "How often to save. auto: from the measured cost of a save and the risk of the place."},
    {.key = "keep",
     .type = &kKeep,
     .default_yaml = "3",
     .doc = "How many checkpoints to keep; the oldest go first."},
}};
constexpr Record kCheckpointRecord = {.what = "checkpoint", .fields = kCheckpointFields};
constexpr ValueType kCheckpoint = {.shape = Shape::kRecord,
                                   .expected = "auto, or a mapping with dir, every and keep",
                                   .words = kAutoWords,
                                   .record = &kCheckpointRecord};

constexpr CloudSet kSlurm = cloud_bit(Cloud::kSlurm);
constexpr CloudSet kSsh = cloud_bit(Cloud::kSsh);
constexpr CloudSet kRented =
    cloud_bit(Cloud::kGcp) | cloud_bit(Cloud::kAws) | cloud_bit(Cloud::kAzure);

constexpr std::array<Field, 15> kPlaceFields = {{
    {.key = "cloud", .type = &kCloud, .required = true, .doc = "Who runs the machine."},
    {.key = "machine",
     .type = &kMachine,
     .doc = "The machine type: n2-standard-8, m6i.2xlarge, Standard_D8s_v5.",
     .taken_by = kRented,
     .required_by = kRented},
    {.key = "region",
     .type = &kRegion,
     .if_absent = "any region",
     .doc = "Only machines in this region.",
     .taken_by = kRented},
    {.key = "zone",
     .type = &kZone,
     .if_absent = "any zone",
     .doc = "Only machines in this zone.",
     .taken_by = kRented},
    {.key = "image",
     .type = &kImage,
     .if_absent = "the cloud's standard image",
     .doc = "The machine image to start from.",
     .taken_by = kRented},
    {.key = "disk",
     .type = &kDisk,
     .if_absent = "as large as the image",
     .doc = "The size of the machine's disk.",
     .taken_by = kRented},
    {.key = "max_price",
     .type = &kPrice,
     .if_absent = "any price",
     .doc = "The place is not used while an hour costs more than this.",
     .taken_by = kRented},
    {.key = "spot",
     .type = &kSpot,
     .if_absent = "as the job's spot",
     .doc = "Spot machines in this place, instead of what the job says.",
     .taken_by = kRented},
    {.key = "partition",
     .type = &kSlurmName,
     .if_absent = "the cluster's default",
     .doc = "The partition to submit to.",
     .taken_by = kSlurm},
    {.key = "account",
     .type = &kSlurmName,
     .if_absent = "the user's default",
     .doc = "The account to charge.",
     .taken_by = kSlurm},
    {.key = "qos",
     .type = &kSlurmName,
     .if_absent = "the partition's default",
     .doc = "The quality of service to ask for.",
     .taken_by = kSlurm},
    {.key = "constraint",
     .type = &kConstraint,
     .if_absent = "any node",
     .doc = "Features a node must have.",
     .taken_by = kSlurm},
    {.key = "host",
     .type = &kHost,
     .doc = "The machine to log in to.",
     .taken_by = kSsh,
     .required_by = kSsh},
    {.key = "user",
     .type = &kUser,
     .if_absent = "as ssh is configured",
     .doc = "The user to log in as.",
     .taken_by = kSsh},
    {.key = "port",
     .type = &kPort,
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
     .type = &kWebhook,
     .required = true,
     .doc = "The URL that gets a POST with the event as JSON."},
    {.key = "on",
     .type = &kNotifyOn,
     .default_yaml = "[stuck, done, failed, over-budget]",
     .doc = "The events to be told about."},
}};
constexpr Record kNotifyRecord = {.what = "notify", .fields = kNotifyFields};
constexpr ValueType kNotify = {
    .shape = Shape::kRecord, .expected = "a mapping with webhook and on", .record = &kNotifyRecord};

constexpr std::array<Field, 19> kJobFields = {{
    {.key = "name",
     .type = &kName,
     .required = true,
     .doc = "What the job is called, in its root and everywhere else."},
    {.key = "root",
     .type = &kRoot,
     .default_yaml = "./outlast-root",
     .doc = "Where the job lives: a folder, or a bucket that every machine can reach."},
    {.key = "run",
     .type = &kCommand,
     .required = true,
     .doc = "The command that trains; /bin/sh runs it in the work folder."},
    {.key = "env",
     .type = &kEnv,
     .default_yaml = "{}",
     .doc =
         "Environment variables for setup and run. They are stored in the root: not for secrets."},
    {.key = "files",
     .type = &kFiles,
     .default_yaml = "[]",
     .doc = "Files and folders beside the job file that travel with the job."},
    {.key = "git",
     .type = &kGit,
     .if_absent = "nothing is cloned",
     .doc = "A repository that is cloned into the work folder, before the files are put there."},
    {.key = "setup",
     .type = &kCommand,
     .if_absent = "nothing is run before",
     .doc = "A command that prepares a fresh machine; it runs once per attempt, before run."},
    {.key = "container",
     .type = &kContainer,
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
     .type = &kOrder,
     .default_yaml = "price",
     .doc = "Which place is tried first: the cheapest, or the first in the list."},
    {.key = "spot",
     .type = &kSpot,
     .default_yaml = "prefer",
     .doc =
         "Whether to use spot machines. prefer: on-demand ones only when there are none, or when "
         "the deadline needs them."},
    {.key = "deadline",
     .type = &kDeadline,
     .default_yaml = "none",
     .doc =
         "The job must be done so long after it was submitted; outlast pays for on-demand machines "
         "where that needs it."},
    {.key = "budget",
     .type = &kBudget,
     .default_yaml = "none",
     .doc = "The most the job may cost. When it is reached, the job is saved and stopped."},
    {.key = "retries",
     .type = &kRetries,
     .default_yaml = "3",
     .doc = "How often a trainer that failed is started again. Preemptions never count."},
    {.key = "on_done",
     .type = &kOnDone,
     .default_yaml = "shutdown",
     .doc = "What becomes of the machine when the job is done."},
    {.key = "on_failed",
     .type = &kOnFailed,
     .default_yaml = "shutdown",
     .doc =
         "What becomes of the machine when the job has failed; keep 30m leaves time for a look."},
    {.key = "cache",
     .type = &kCache,
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
