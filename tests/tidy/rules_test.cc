#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/planted.h"

namespace outlast::tidy {
namespace {

struct TreeCase {
  std::string name;
  Files planted;
  std::vector<std::string> findings;
};

class TidyRules : public testing::TestWithParam<TreeCase> {};

TEST_P(TidyRules, FindExactlyWhatWasPlanted) {
  EXPECT_EQ(findings_with(GetParam().planted), GetParam().findings);
}

std::string case_name(const testing::TestParamInfo<TreeCase>& info) {
  return info.param.name;
}

const std::string kJob = "#include \"job/spec.h\"\n";

INSTANTIATE_TEST_SUITE_P(
    Exceptions, TidyRules,
    testing::Values(
        TreeCase{"Swallowed",
                 job_code("void f() {\n  try {\n    g();\n  } catch (...) {\n  }\n}"),
                 {"src/job/spec.cc:6: catch (...) without throw; would swallow the end of a "
                  "simulated machine: catch what is expected [catch-all]"}},
        TreeCase{"Rethrown",
                 job_code("void f() {\n  try {\n    g();\n  } catch (...) {\n    h();\n    throw;\n"
                          "  }\n}"),
                 {}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    UsingNamespace, TidyRules,
    testing::Values(
        TreeCase{"AtFileLevel",
                 job_code("using namespace std;"),
                 {"src/job/spec.cc:3: using namespace at file level reaches into other files of a "
                  "unity build: name what is used [using-namespace]"}},
        TreeCase{"InANamespace",
                 job_code("namespace a {\nnamespace {\nusing namespace std;\n}\n}"),
                 {"src/job/spec.cc:5: using namespace at file level reaches into other files of a "
                  "unity build: name what is used [using-namespace]"}},
        TreeCase{"InAFunction",
                 job_code("namespace a {\nvoid f() {\n  using namespace std;\n}\n}"),
                 {}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Includes, TidyRules,
    testing::Values(
        TreeCase{"AgainstTheDirection",
                 {{"src/job/spec.cc", kJob + "#include \"sys/clock.h\"\n"}},
                 {"src/job/spec.cc:2: job may not include sys: see src/dependencies.txt "
                  "[include-direction]"}},
        TreeCase{"UpwardFromBase",
                 {{"src/base/time.h", "#pragma once\n#include \"sys/clock.h\"\n"}},
                 {"src/base/time.h:2: base may not include sys: see src/dependencies.txt "
                  "[include-direction]"}},
        TreeCase{
            "OfTheSimulatorInATest",
            {{"src/job/spec_test.cc", kJob + "#include \"sim/kernel.h\"\n#include \"sys/clock.h\"\n"
                                             "#include \"sys/testing/suite.h\"\n"}},
            {}},
        TreeCase{"OfAHigherModuleInATest",
                 {{"src/job/spec_test.cc", kJob + "#include \"cli/run.h\"\n"}},
                 {"src/job/spec_test.cc:2: job may not include cli: see src/dependencies.txt "
                  "[include-direction]"}},
        TreeCase{"OfAModuleWithoutARow",
                 {{"src/cli/program/parse.cc", "#include \"watch/watch.h\"\n"},
                  {"src/watch/watch.h", "#pragma once\n"},
                  {"src/watch/CMakeLists.txt", "HEADERS watch.h\n"}},
                 {"src/cli/program/parse.cc:1: the module of watch/watch.h has no row in "
                  "src/dependencies.txt: add one [include-direction]"}},
        TreeCase{"OfALongerModuleName",
                 {{"src/dependencies.txt",
                   "base:\nsys: base\njob: base\nsim: sys base\n"
                   "sim/workloads: sim\ncli: sim sys job base\n"},
                  {"src/sim/kernel.h", "#pragma once\n#include \"sim/workloads/w.h\"\n"},
                  {"src/sim/workloads/w.h", "#pragma once\n#include \"sim/kernel.h\"\n"},
                  {"src/sim/workloads/CMakeLists.txt", "HEADERS w.h\n"}},
                 {"src/sim/kernel.h:2: sim may not include sim/workloads: see "
                  "src/dependencies.txt [include-direction]"}},
        TreeCase{"NotRooted",
                 {{"src/job/spec.cc", kJob + "#include \"time.h\"\n"}},
                 {"src/job/spec.cc:2: \"time.h\" is no file of src/: write the whole path below "
                  "src/ [include-root]"}},
        TreeCase{"OfANeighbourInATest",
                 {{"tests/e2e/run_test.cc", "#include \"program.h\"\n"},
                  {"tests/e2e/program.h", "#pragma once\n"}},
                 {}},
        TreeCase{"OfNothingInATest",
                 {{"tests/e2e/run_test.cc", "#include \"program.h\"\n"}},
                 {"tests/e2e/run_test.cc:1: \"program.h\" is no file of src/: write the whole path "
                  "below src/ [include-root]"}},
        TreeCase{"InAComment", {{"src/job/spec.cc", kJob + "// #include \"sys/clock.h\"\n"}}, {}},
        TreeCase{"OwnHeaderNotFirst",
                 {{"src/job/spec.cc", "#include \"base/time.h\"\n" + kJob}},
                 {"src/job/spec.cc:1: \"job/spec.h\" must be the first include [own-header]"}},
        TreeCase{"OwnHeaderNotFirstInATest",
                 {{"src/job/spec_test.cc", "#include <gtest/gtest.h>\n\n" + kJob}},
                 {"src/job/spec_test.cc:1: \"job/spec.h\" must be the first include "
                  "[own-header]"}},
        TreeCase{"OnceIsMissing",
                 {{"src/job/spec.h", "// Job.\nstruct Spec;\n#pragma once\n"}},
                 {"src/job/spec.h:1: a header starts with #pragma once [pragma-once]"}},
        TreeCase{"OnceAfterAComment", {{"src/job/spec.h", "// Job.\n\n#pragma once\n"}}, {}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Libraries, TidyRules,
    testing::Values(
        TreeCase{"CommandLine",
                 {{"src/job/spec.cc", kJob + "#include <CLI/CLI.hpp>\n"}},
                 {"src/job/spec.cc:2: <CLI/CLI.hpp> does not belong here: it costs 4 s a file "
                  "[library]"}},
        TreeCase{"Yaml",
                 {{"src/job/spec.cc", kJob + "#include <yaml.h>\n"}},
                 {"src/job/spec.cc:2: <yaml.h> does not belong here: everyone else reads YAML "
                  "through base/yaml.h [library]"}},
        TreeCase{"Torch",
                 {{"src/job/spec.cc", kJob + "#include <torch/torch.h>\n"}},
                 {"src/job/spec.cc:2: <torch/torch.h> does not belong here: only the trainers "
                  "link libtorch [library]"}},
        TreeCase{"OpenSsl",
                 {{"src/job/spec.cc", kJob + "#include <openssl/evp.h>\n"}},
                 {"src/job/spec.cc:2: <openssl/evp.h> does not belong here: everyone else calls "
                  "base/hash.h or base/rsa.h [library]"}},
        TreeCase{"WholeJsonInAHeader",
                 {{"src/job/spec.h", "#pragma once\n#include <nlohmann/json.hpp>\n"}},
                 {"src/job/spec.h:2: <nlohmann/json.hpp> does not belong here: headers take "
                  "base/json.h, which only declares it [library]"}},
        TreeCase{"TestsInTheProduct",
                 {{"src/job/spec.cc", kJob + "#include <gtest/gtest.h>\n"}},
                 {"src/job/spec.cc:2: <gtest/gtest.h> does not belong here: the product does not "
                  "link it [library]"}}),
    case_name);

// In two halves, so that this file itself stays clean.
const std::string kNote = std::string("TO") + "DO";

INSTANTIATE_TEST_SUITE_P(
    Texts, TidyRules,
    testing::Values(
        TreeCase{"Tab", {{"notes.txt", "a\tb\n"}}, {"notes.txt:1: a tab: use spaces [text]"}},
        TreeCase{"SpaceAtTheEnd",
                 {{"notes.txt", "a\nb \n"}},
                 {"notes.txt:2: white space at the end of the line: remove it [text]"}},
        TreeCase{
            "Crlf", {{"notes.txt", "a\r\n"}}, {"notes.txt:1: a line ends in CRLF: use LF [text]"}},
        TreeCase{"NoLastNewline",
                 {{"notes.txt", "a\nb"}},
                 {"notes.txt:2: the file does not end in a newline: add one [text]"}},
        TreeCase{
            "NoteToSelf",
            {{"notes.txt", "// " + kNote + ": later\n"}},
            {"notes.txt:1: " + kNote + ": do it now, or write it where work is planned [text]"}},
        TreeCase{"PartOfAWord", {{"notes.txt", "MA" + kNote + "R mkdtemp(XXXXXX)\n"}}, {}},
        TreeCase{"RawMaterial",
                 {{"tests/bad-jobs/crlf.yaml", "a:\tb \r\n"}, {"tests/fuzz/corpus/x", "a \t"}},
                 {}},
        TreeCase{"Binary", {{"logo.png", std::string("\0\t \r\n ", 6)}}, {}},
        TreeCase{"DeadLink",
                 {{"docs/guide.md", "See [it](../NONE.md#part) and [that](../README.md).\n"}},
                 {"docs/guide.md:1: the link to '../NONE.md#part' leads nowhere: correct or remove "
                  "it [link]"}},
        TreeCase{"OtherLinks",
                 {{"docs/guide.md",
                   "[a](https://example.org) [b](#part) [c](../src/job/) "
                   "`[d](none)`\n```\n[e](none)\n```\n"}},
                 {}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Listed, TidyRules,
    testing::Values(
        TreeCase{"ForgottenTest",
                 {{"src/job/more_test.cc", "\n"}},
                 {"src/job/more_test.cc:1: is not built, or not checked: name it in "
                  "src/job/CMakeLists.txt [listed]"}},
        TreeCase{"OnlyInAComment",
                 {{"src/job/CMakeLists.txt", "HEADERS spec.h\nSOURCES spec.cc # spec_test.cc\n"}},
                 {"src/job/spec_test.cc:1: is not built, or not checked: name it in "
                  "src/job/CMakeLists.txt [listed]"}},
        TreeCase{"NoModule",
                 {{"src/new/new.h", "#pragma once\n"}},
                 {"src/new/new.h:1: its module has no CMakeLists.txt: add one [listed]"}}),
    case_name);

std::string lines_of_code(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "#\n";
  return text;
}

constexpr std::string_view kTooLong =
    ": split it, or say why not in tests/tidy/long_files.txt [length]";

INSTANTIATE_TEST_SUITE_P(
    Lengths, TidyRules,
    testing::Values(
        TreeCase{"Just", {{"a.py", lines_of_code(400)}}, {}},
        TreeCase{"TooMany",
                 {{"a.py", lines_of_code(401)}},
                 {"a.py:401: 401 lines, 400 allowed" + std::string(kTooLong)}},
        TreeCase{"WithAReason",
                 {{"a.py", lines_of_code(450)}, {"tests/tidy/long_files.txt", "a.py 450 Data.\n"}},
                 {}},
        TreeCase{"GrownAllTheSame",
                 {{"a.py", lines_of_code(451)}, {"tests/tidy/long_files.txt", "a.py 450 Data.\n"}},
                 {"a.py:451: 451 lines, 450 allowed" + std::string(kTooLong)}},
        TreeCase{
            "FarTooMany",
            {{"a.py", lines_of_code(1001)}, {"tests/tidy/long_files.txt", "a.py 2000 Data.\n"}},
            {"a.py:1001: 1001 lines: nothing is over 1000, split it [length]"}},
        TreeCase{"ReasonNoLongerNeeded",
                 {{"a.py", lines_of_code(400)}, {"tests/tidy/long_files.txt", "a.py 450 Data.\n"}},
                 {"tests/tidy/long_files.txt:1: a.py is not over 400 lines (any more): remove the "
                  "entry [length]"}},
        TreeCase{"ReasonMissing",
                 {{"tests/tidy/long_files.txt", "# long\na.py 450\n"}},
                 {"tests/tidy/long_files.txt:2: write: path, most lines, and the reason "
                  "[length]"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    AllowList, TidyRules,
    testing::Values(
        TreeCase{"Allows",
                 {{"src/job/spec.cc", kJob + "std::mutex a;\nstd::mutex b;\n"},
                  {"tests/tidy/allow.txt", "# why\nsrc/job/spec.cc lock It is one.\n"}},
                 {}},
        TreeCase{"AllowsNothingElse",
                 {{"src/job/spec.cc", kJob + "std::mutex a;\nusleep(1);\n"},
                  {"tests/tidy/allow.txt", "src/job/spec.cc lock It is one.\n"}},
                 {"src/job/spec.cc:3: 'usleep' here: wait through sys::Clock or an Inbox "
                  "[sleep]"}},
        TreeCase{"EntryNotUsed",
                 {{"tests/tidy/allow.txt", "src/job/spec.cc lock It was one.\n"}},
                 {"tests/tidy/allow.txt:1: nothing in src/job/spec.cc breaks 'lock' (any more): "
                  "remove the entry [allow]"}},
        TreeCase{"EntryWithoutReason",
                 {{"src/job/spec.cc", kJob + "std::mutex a;\n"},
                  {"tests/tidy/allow.txt", "src/job/spec.cc lock\n"}},
                 {"src/job/spec.cc:2: 'mutex' here: send a message through an Inbox, or use Mutex "
                  "of base/mutex.h [lock]",
                  "tests/tidy/allow.txt:1: write: path, rule, and the reason [allow]"}}),
    case_name);

}  // namespace
}  // namespace outlast::tidy
