#include "job/schema.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/json.h"
#include "base/yaml.h"
#include "job/spec.h"
#include "job/testing/files.h"

namespace outlast::job {
namespace {

using testing::file_bytes;
using testing::files_in;
using testing::tree_path;

// Bad jobs whose mistake a schema cannot express.
const std::set<std::string> kSeenByTheReaderOnly = {"conflicts.yaml", "deadline-too-long.yaml",
                                                    "exit-codes-alike.yaml", "git.yaml",
                                                    "progress-regex.yaml"};

// To bring the two files up to date: OUTLAST_WRITE_DOCS=1 job_tests --gtest_filter='Docs.*'
void expect_kept_as(const std::string& generated, std::string_view file) {
  if (std::getenv("OUTLAST_WRITE_DOCS") != nullptr) {
    std::ofstream(tree_path(file), std::ios::binary) << generated;
  }
  EXPECT_TRUE(generated == file_bytes(tree_path(file)))
      << file << " is not what the field table gives; run this test with OUTLAST_WRITE_DOCS=1";
}

TEST(Docs, SchemaIsWhatTheTableGives) {
  expect_kept_as(pretty_json(json_schema()) + "\n", "docs/job.schema.json");
}

TEST(Docs, ReferenceIsWhatTheTableGives) {
  expect_kept_as(reference_markdown(), "docs/job_file.md");
}

// A scalar as editors see it: by the rules of YAML 1.2, which know nothing of our table.
Json as_an_editor_sees(const YamlNode& scalar) {
  const std::string& text = scalar.text;
  if (scalar.quoted) return text;
  if (scalar.is_null()) return nullptr;
  if (text == "true" || text == "false") return text == "true";
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [rest, failure] = std::from_chars(text.data(), end, whole);
      failure == std::errc() && rest == end) {
    return whole;
  }
  double number = 0;
  const bool starts_like_one =
      std::string_view("+-.0123456789").find(text[0]) != std::string_view::npos;
  if (const auto [rest, failure] = std::from_chars(text.data(), end, number);
      starts_like_one && failure == std::errc() && rest == end) {
    return number;
  }
  return text;
}

Json plain_json(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return as_an_editor_sees(node);
  if (node.kind == YamlNode::Kind::kSequence) {
    Json list = Json::array();
    for (const YamlNode& item : node.items) list.push_back(plain_json(item));
    return list;
  }
  Json object = Json::object();
  for (const YamlMember& member : node.members) object[member.key] = plain_json(member.value);
  return object;
}

constexpr std::string_view kValidateScript = R"(
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for name, document in json.load(open(sys.argv[2])).items():
    print(name, "valid" if validator.is_valid(document) else "invalid")
)";

// Debian's own, which has Debian's modules; another python3 may be first in PATH.
std::string run_python(const std::string& arguments, int& status) {
  std::string output;
  FILE* const pipe = ::popen(("/usr/bin/python3 -W ignore " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    output += buffer.data();
  }
  status = pipe == nullptr ? -1 : ::pclose(pipe);
  return output;
}

std::string write_temporary(const std::string& name, std::string_view content) {
  const std::string path =
      (std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + name)).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(Docs, SchemaAgreesWithTheReader) {
  int status = 0;
  run_python("-c 'import jsonschema'", status);
  if (status != 0)
    GTEST_SKIP() << "python3-jsonschema is missing: apt-get install python3-jsonschema";

  Json documents = Json::object();
  std::map<std::string, std::string> expected;
  for (const std::string_view folder : {"examples", "tests/bad-jobs", "tests/corpus/job_spec"}) {
    for (const auto& path : files_in(folder)) {
      if (path.extension() == ".expected") continue;
      if (folder == "examples" && path.extension() != ".yaml") continue;
      const std::string bytes = file_bytes(path);
      const YamlReading tree = read_yaml(bytes);
      const bool good = read_spec(bytes).spec.has_value();
      // Of what the fuzzer made, only what the reader accepts says something about the schema.
      if (!tree.problems.empty() || (folder.ends_with("job_spec") && !good)) continue;
      const std::string name = path.filename().string();
      documents[name] = plain_json(tree.root);
      expected[name] = good || kSeenByTheReaderOnly.contains(name) ? "valid" : "invalid";
    }
  }
  const std::string script = write_temporary("validate.py", kValidateScript);
  const std::string input = write_temporary("documents.json", documents.dump());
  std::istringstream lines(
      run_python(script + " " + tree_path("docs/job.schema.json").string() + " " + input, status));
  EXPECT_EQ(status, 0) << lines.str();
  std::map<std::string, std::string> seen;
  for (std::string name, verdict; lines >> name >> verdict;) seen[name] = verdict;
  EXPECT_EQ(seen, expected);
  std::filesystem::remove(script);
  std::filesystem::remove(input);
}

}  // namespace
}  // namespace outlast::job
