#pragma once

#include <array>
#include <string_view>

#include "job/fields.h"
#include "job/place.h"
#include "job/scalars.h"
#include "job/spec.h"

// The kinds of value that the field table is made of, but for those that are records. Part of the
// table; not for use outside it.
namespace outlast::job::kinds {

using Shape = ValueType::Shape;

inline constexpr std::array<std::string_view, 1> kAutoWords = {"auto"};
inline constexpr std::array<std::string_view, 1> kNoneWords = {kNone};

// In the order of the keys that use them.

inline constexpr ValueType kName = {
    .expected =
        "up to 63 lower-case letters, digits, '-', '_' and '.', with a letter or digit at both "
        "ends",
    .read = read_name,
    .pattern = "^[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?$"};
inline constexpr ValueType kRoot = {
    .expected =
        "a folder, file:///path, s3://bucket/prefix, gs://bucket/prefix or "
        "az://account/container/prefix",
    .read = read_root,
    .pattern =
        "^(file:///.*|(s3|gs)://[a-z0-9][a-z0-9._-]+[a-z0-9](/.*)?|"
        "az://[a-z0-9]+/[a-z0-9-]+(/.*)?|(?!~)(?!.*://).+)$"};
inline constexpr ValueType kCommand = {
    .expected = "a shell command", .read = read_command, .pattern = "\\S"};
inline constexpr ValueType kEnvValue = {
    .expected = "text, or \"\" for an empty one", .read = read_env_value, .pattern = ""};
inline constexpr ValueType kEnv = {.shape = Shape::kMap,
                                   .expected = "a mapping of names to texts",
                                   .item = &kEnvValue,
                                   .read_key = read_env_name,
                                   .key_expected = "letters, digits and '_', with no digit first",
                                   .key_pattern = "^(?!OUTLAST_)[A-Za-z_][A-Za-z0-9_]*$"};
inline constexpr ValueType kFile = {
    .expected = "a path inside the job's folder", .read = read_file, .pattern = "^[^/*?][^*?]*$"};
inline constexpr ValueType kFiles = {
    .shape = Shape::kList, .expected = "a list of paths", .item = &kFile};
inline constexpr ValueType kGitUrl = {
    .expected = "an https://, http://, ssh:// or git:// URL, or user@host:path",
    .read = read_git_url,
    .pattern = "^(https://|http://|ssh://|git://|[A-Za-z0-9_][A-Za-z0-9_.-]*@[^ ]+:)[^ ]+$"};
inline constexpr ValueType kGitRevision = {.expected = "a branch, tag or commit",
                                           .read = read_git_revision,
                                           .pattern = "^[A-Za-z0-9_/.][A-Za-z0-9_/.:@+=~^-]*$"};
inline constexpr std::string_view kTokenPattern = "^[A-Za-z0-9_/.][A-Za-z0-9_/.:@+=~^-]*$";
inline constexpr ValueType kContainer = {.expected = "an image such as registry/image:tag",
                                         .read = read_container,
                                         .pattern = kTokenPattern};
inline constexpr ValueType kCheckpointDir = {
    .expected = "auto, or a folder inside the work folder, or an absolute path",
    .words = kAutoWords,
    .read = read_checkpoint_dir,
    .pattern = "^[^~]"};
inline constexpr std::string_view kDurationPattern = "^([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+$";
inline constexpr ValueType kEvery = {
    .expected = "auto, a duration such as 30m, or a count such as 500 steps or 2 epochs",
    .words = kAutoWords,
    .read = read_every,
    .pattern = "^(([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+|[0-9]+ (steps?|epochs?))$"};
inline constexpr ValueType kKeep = {.shape = Shape::kCount, .min = 1, .max = 1000};
inline constexpr ValueType kRetries = {.shape = Shape::kCount, .min = 0, .max = 1000};
inline constexpr ValueType kPort = {.shape = Shape::kCount, .min = 1, .max = 65535};
inline constexpr ValueType kCloud = {.words = kCloudWords};
inline constexpr ValueType kMachine = {.expected = "a machine type as the cloud names it",
                                       .read = read_token,
                                       .pattern = kTokenPattern};
inline constexpr ValueType kRegion = {
    .expected = "a region as the cloud names it", .read = read_token, .pattern = kTokenPattern};
inline constexpr ValueType kZone = {
    .expected = "a zone as the cloud names it", .read = read_token, .pattern = kTokenPattern};
inline constexpr ValueType kImage = {.expected = "a machine image as the cloud names it",
                                     .read = read_token,
                                     .pattern = kTokenPattern};
inline constexpr ValueType kDisk = {.expected = "a size such as 100GB or 50GiB",
                                    .read = read_disk,
                                    .pattern = "^[0-9]+(\\.[0-9]+)? ?([kKMGTP]i?)?B$"};
inline constexpr ValueType kPrice = {.expected = "an amount such as 0.35 USD",
                                     .read = read_money,
                                     .pattern = "^[0-9]+(\\.[0-9]{1,6})? USD$"};
inline constexpr ValueType kSlurmName = {
    .expected = "a name as Slurm knows it", .read = read_token, .pattern = kTokenPattern};
inline constexpr ValueType kConstraint = {
    .expected = "features as sbatch --constraint takes them",
    .read = read_constraint,
    .pattern = "^[A-Za-z0-9_(\\[][A-Za-z0-9_.:&|*,()\\[\\]!@-]*$"};
inline constexpr ValueType kHost = {.expected = "a host name or address",
                                    .read = read_host,
                                    .pattern = "^[A-Za-z0-9:][A-Za-z0-9.:_-]*$"};
inline constexpr ValueType kUser = {
    .expected = "a user name", .read = read_user, .pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"};
inline constexpr ValueType kOrder = {.words = kOrderWords};
inline constexpr ValueType kSpot = {.words = kSpotWords};
inline constexpr ValueType kDeadline = {.expected = "a duration such as 90m or 12h, or none",
                                        .words = kNoneWords,
                                        .read = read_span,
                                        .pattern = kDurationPattern};
inline constexpr ValueType kGrace = {
    .expected = "a duration such as 30s", .read = read_span, .pattern = kDurationPattern};
inline constexpr ValueType kLifetime = {.expected = "a duration such as 24h, or none",
                                        .words = kNoneWords,
                                        .read = read_span,
                                        .pattern = kDurationPattern};
inline constexpr ValueType kExitCode = {.shape = Shape::kCount, .min = 1, .max = 125};
inline constexpr ValueType kProgressRegex = {
    .expected = "auto, or a regular expression with named groups, such as step (?<step>\\d+)",
    .words = kAutoWords,
    .read = read_progress_regex,
    .pattern = "\\(\\?P?<[A-Za-z_]"};
inline constexpr ValueType kBudget = {.expected = "an amount such as 5.00 USD, or none",
                                      .words = kNoneWords,
                                      .read = read_money,
                                      .pattern = "^[0-9]+(\\.[0-9]{1,6})? USD$"};
inline constexpr ValueType kOnDone = {.words = kOnDoneWords};
inline constexpr ValueType kOnFailed = {
    .expected = "shutdown, keep, or keep and a duration such as keep 30m",
    .words = kOnDoneWords,
    .read = read_on_failed,
    .pattern = "^keep ([0-9]+(\\.[0-9]+)?(w|d|h|m|s|ms))+$"};
inline constexpr ValueType kCachePath = {.expected = "a folder inside the work folder or below ~/",
                                         .read = read_cache,
                                         .pattern = "^[^/]"};
inline constexpr ValueType kCache = {
    .shape = Shape::kList, .expected = "a list of folders", .item = &kCachePath};
inline constexpr ValueType kWebhook = {.expected = "an https:// or http:// URL",
                                       .read = read_webhook,
                                       .pattern = "^https?://[^/?# ][^ ]*$"};
inline constexpr ValueType kNotifyWord = {.words = kNotifyWords};
inline constexpr ValueType kNotifyOn = {.shape = Shape::kList,
                                        .expected = "a list of events",
                                        .item = &kNotifyWord,
                                        .may_be_empty = false};

}  // namespace outlast::job::kinds
