#include "job/spec_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "job/scalars.h"
#include "job/spec.h"
#include "job/spec_text.h"

namespace outlast::job {
namespace {

// Text out of pieces that have a meaning in YAML, JSON or a terminal.
rc::Gen<std::string> gen_text() {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   "0",
                                                   ".",
                                                   "/",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\t",
                                                   "#",
                                                   ":",
                                                   ": ",
                                                   "- ",
                                                   "'",
                                                   "\"",
                                                   "\\",
                                                   "{",
                                                   "]",
                                                   ",",
                                                   "&",
                                                   "*",
                                                   "!",
                                                   "%",
                                                   "|-",
                                                   "\r",
                                                   "\x7F",
                                                   "\xC2\x85",
                                                   "\xE2\x80\xA8",
                                                   "\xEF\xBB\xBF",
                                                   "é",
                                                   "~",
                                                   "no",
                                                   "null",
                                                   "---",
                                                   "\x1B[",
                                                   "${HOME}",
                                                   "\xF0\x9F\x98\x80"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kPieces)),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& piece : pieces) text += piece;
                        return text;
                      });
}

// Only what the reader of that kind accepts, in its canonical form.
rc::Gen<std::string> gen_scalar(ScalarReader read, std::string fallback) {
  return rc::gen::map(gen_text(), [read, fallback](const std::string& text) {
    return read(text).value_or(fallback);
  });
}

std::vector<std::string> unique_of(const std::vector<std::string>& texts) {
  const std::set<std::string> sorted(texts.begin(), texts.end());
  return {sorted.begin(), sorted.end()};
}

Place any_place() {
  Place place;
  place.cloud = static_cast<Cloud>(*rc::gen::inRange(0, 6));
  if (place.cloud == Cloud::kGcp || place.cloud == Cloud::kAws || place.cloud == Cloud::kAzure) {
    place.machine = *gen_scalar(read_token, "m1");
    place.region = *gen_scalar(read_token, "");
    if (*rc::gen::arbitrary<bool>()) place.zone = place.region + "a";
    if (*rc::gen::arbitrary<bool>()) {
      place.disk_bytes = *rc::gen::inRange<std::uint64_t>(1U << 30U, std::uint64_t{1} << 50U);
      place.max_price = Money{*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000)};
      place.spot = static_cast<SpotPolicy>(*rc::gen::inRange(0, 3));
    }
  } else if (place.cloud == Cloud::kSlurm) {
    place.constraint = *gen_scalar(read_constraint, "");
  } else if (place.cloud == Cloud::kSsh) {
    place.host = *gen_scalar(read_host, "h");
    if (*rc::gen::arbitrary<bool>()) place.port = *rc::gen::inRange<std::uint16_t>(1, 65535);
  }
  return place;
}

Duration any_span() {
  return std::chrono::milliseconds(*rc::gen::inRange<std::int64_t>(1'000, 315'360'000'000));
}

Spec any_spec() {
  Spec spec;
  spec.name = JobName(*gen_scalar(read_name, "demo"));
  spec.root = *gen_scalar(read_root, "./outlast-root");
  spec.run = *gen_scalar(read_command, "python train.py");
  for (const char* const name : {"A", "no", "_x1"}) {
    if (*rc::gen::arbitrary<bool>()) spec.env[name] = *gen_text();
  }
  spec.files = unique_of(*rc::gen::container<std::vector<std::string>>(gen_scalar(read_file, "f")));
  spec.cache =
      unique_of(*rc::gen::container<std::vector<std::string>>(gen_scalar(read_cache, "c")));
  if (*rc::gen::arbitrary<bool>()) {
    spec.git =
        GitSource{.url = "git@host:path", .revision = *gen_scalar(read_git_revision, "HEAD")};
    spec.setup = *gen_scalar(read_command, "true");
    spec.container = *gen_scalar(read_container, "image");
    spec.budget = Money{*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000)};
    spec.notify = Notify{.webhook = "http://h", .on = {NotifyEvent::kDone, NotifyEvent::kStuck}};
  }
  using Unit = CheckpointEvery::Unit;
  spec.checkpoint.every.unit = static_cast<Unit>(*rc::gen::inRange(0, 4));
  if (spec.checkpoint.every.unit == Unit::kTime) spec.checkpoint.every.time = any_span();
  if (spec.checkpoint.every.unit >= Unit::kSteps) {
    spec.checkpoint.every.count = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000'000);
  }
  spec.checkpoint.dir = "/scratch";
  spec.checkpoint.keep = *rc::gen::inRange<std::uint64_t>(1, 1'001);
  spec.places = {any_place()};
  spec.grace = std::chrono::milliseconds(*rc::gen::inRange(1'000, 10'000));
  if (spec.checkpoint.every.unit != Unit::kTime && *rc::gen::arbitrary<bool>()) {
    spec.lifetime = std::chrono::minutes(*rc::gen::inRange(1, 100'000));
  }
  spec.exit_codes.left = *rc::gen::inRange(1, 126);
  spec.exit_codes.never = spec.exit_codes.left % 125 + 1;
  spec.progress.regex = "(?<loss>" + *rc::gen::element<std::string>("\\S+", "é:", "\"'#") + ")";
  spec.order = static_cast<Order>(*rc::gen::inRange(0, 2));
  if (spec.checkpoint.every.unit != Unit::kTime) spec.deadline = any_span();
  spec.on_failed.keep = *rc::gen::arbitrary<bool>();
  if (spec.on_failed.keep) spec.on_failed.keep_for = any_span();
  return spec;
}

RC_GTEST_PROP(SpecProperty, JsonAndTextGiveTheSameJobBack, ()) {
  const Spec spec = any_spec();
  const auto from_json = spec_from_json(to_json(spec));
  if (!from_json) RC_FAIL(from_json.error().to_string());
  RC_ASSERT(*from_json == spec);
  const std::string text = spec_text(spec);
  const SpecReading reading = read_spec(text);
  if (!reading.spec) RC_FAIL(text + format_diagnostics("text", reading));
  if (*reading.spec != spec) RC_FAIL(text);
}

constexpr std::string_view kDemo = "name: demo\nrun: python train.py\n";

TEST(SpecJson, HasEveryKeyAndCanonicalTexts) {
  const SpecReading reading = read_spec(
      std::string(kDemo) +
      "deadline: 90m\nbudget: 5 USD\nplaces: [{cloud: aws, machine: m, disk: 51200MiB}]\n");
  ASSERT_TRUE(reading.spec);
  EXPECT_EQ(
      canonical_json(to_json(*reading.spec)),
      R"({"budget":"5.00 USD","cache":[],"checkpoint":{"dir":"auto","every":"auto","keep":3},)"
      R"("container":null,"deadline":"1h30m","env":{},"exit_codes":{"left":75,"never":78},)"
      R"("files":[],"git":null,"grace":"30s","lifetime":null,"name":"demo","notify":null,)"
      R"("on_done":"shutdown","on_failed":"shutdown","order":"price",)"
      R"("places":[{"cloud":"aws","disk":"50GiB","image":null,"machine":"m","max_price":null,)"
      R"("region":null,"spot":null,"zone":null}],"progress":{"regex":"auto"},)"
      R"("retries":3,"root":"./outlast-root",)"
      R"("run":"python train.py","setup":null,"spot":"prefer"})");
}

TEST(SpecJson, MissingKeysTakeTheirDefaults) {
  const auto spec = spec_from_json({{"name", "demo"}, {"run", "python train.py"}});
  ASSERT_TRUE(spec) << spec.error().to_string();
  EXPECT_EQ(*spec, *read_spec(kDemo).spec);
}

TEST(SpecJson, IsStrict) {
  const auto why = [](const Json& json) {
    const auto spec = spec_from_json(json);
    return spec ? "" : spec.error().sentence();
  };
  const Json good = to_json(*read_spec(kDemo).spec);
  const auto with = [&](const std::string& key, const Json& value) {
    Json json = good;
    json[key] = value;
    return json;
  };
  EXPECT_EQ(why(good), "");
  EXPECT_EQ(why(with("retires", 3)),
            "retires: a job has no key 'retires'; did you mean 'retries'?");
  EXPECT_EQ(why(with("retries", "3")),
            "retries: 'retries' must be a whole number from 0 to 1000, not '3': it is in quotes");
  EXPECT_EQ(why(with("setup", 3)),
            "setup: 'setup' must be a shell command, not '3': it is not a string");
  EXPECT_EQ(why(with("retries", nullptr)),
            "retries: 'retries' has no value; it must be a whole number from 0 to 1000");
  EXPECT_EQ(why(with("places", {{{"cloud", "aws"}, {"machine", "m"}}, {{"cloud", "ssh"}}})),
            "places[1].host: 'host' is missing; cloud ssh needs a host name or address");
  EXPECT_EQ(why(Json::array()),
            "a job is a mapping of keys to values, such as 'name: my-job'; this is a list");
  Json deep;
  for (int i = 0; i < 100; ++i) deep = Json::array({deep});
  EXPECT_EQ(why(with("env", deep)), "nested more than 32 deep");
}

TEST(SpecText, ShowsDefaultsAndWhatIsNotSet) {
  const SpecReading reading =
      read_spec(std::string(kDemo) + "places:\n- {cloud: ssh, host: gpu1}\n");
  ASSERT_TRUE(reading.spec);
  EXPECT_EQ(spec_text(*reading.spec, reading.defaulted),
            "name: demo\n"
            "root: ./outlast-root  # default\n"
            "run: python train.py\n"
            "env: {}               # default\n"
            "files: []             # default\n"
            "# git: nothing is cloned\n"
            "# setup: nothing is run before\n"
            "# container: directly on the machine\n"
            "checkpoint:           # default\n"
            "  dir: auto           # default\n"
            "  every: auto         # default\n"
            "  keep: 3             # default\n"
            "places:\n"
            "  - cloud: ssh\n"
            "    host: gpu1\n"
            "    # user: as ssh is configured\n"
            "    # port: as ssh is configured\n"
            "order: price          # default\n"
            "spot: prefer          # default\n"
            "deadline: none        # default\n"
            "budget: none          # default\n"
            "grace: 30s            # default\n"
            "lifetime: none        # default\n"
            "retries: 3            # default\n"
            "exit_codes:           # default\n"
            "  left: 75            # default\n"
            "  never: 78           # default\n"
            "progress:             # default\n"
            "  regex: auto         # default\n"
            "on_done: shutdown     # default\n"
            "on_failed: shutdown   # default\n"
            "cache: []             # default\n"
            "# notify: nobody is told\n");
}

}  // namespace
}  // namespace outlast::job
