#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "program.h"

namespace outlast::e2e {
namespace {

// What the doctor found under this name.
Json check_named(const std::string& name, const How& how) {
  const auto json = parse_json(outlast({"doctor", "--json"}, how).out);
  if (!json) return {};
  for (const Json& check : (*json)["checks"]) {
    if (check["name"] == name) return check;
  }
  return {};
}

How with_path(const std::string& folder) {
  How how;
  how.environment = {{"PATH", folder}};
  return how;
}

TEST(Doctor, KnowsThisMachine) {
  const auto json = parse_json(outlast({"doctor", "--json"}).out);
  ASSERT_TRUE(json);
  for (const Json& check : (*json)["checks"]) {
    if (check["name"] == "system") {
      EXPECT_NE(check["finding"].get<std::string>().find("Linux"), std::string::npos);
    }
    if (check["name"] == "memory" || check["name"] == "disk") {
      EXPECT_NE(check["finding"].get<std::string>().find("free of"), std::string::npos);
    }
  }
}

TEST(Doctor, FindsProgramsButNotOtherFiles) {
  TemporaryFolder folder;
  const std::string git = folder.write("git", "#!/bin/sh\n", true);
  folder.write("ssh", "not a program");
  EXPECT_EQ(check_named("git", with_path(folder.path()))["finding"], git);
  EXPECT_EQ(check_named("ssh", with_path(folder.path()))["status"], "note");
}

TEST(Doctor, RepeatsWhatCriuSays) {
  TemporaryFolder folder;
  folder.write("criu", "#!/bin/sh\necho 'Error (x): no kernel for that' >&2\nexit 1\n", true);
  const Json refused = check_named("criu", with_path(folder.path()));
  EXPECT_NE(refused["finding"].get<std::string>().find("no kernel for that"), std::string::npos);
  folder.write("criu", "#!/bin/sh\n[ \"$1\" = check ]\n", true);
  EXPECT_EQ(check_named("criu", with_path(folder.path()))["status"], "ok");
}

TEST(Doctor, DoesNotReadCredentials) {
  TemporaryFolder home;
  How how;
  how.environment = {{"HOME", home.path()}, {"AWS_SECRET_ACCESS_KEY", "hunter2"}};
  const Ended ended = outlast({"doctor"}, how);
  EXPECT_NE(ended.out.find("AWS_SECRET_ACCESS_KEY"), std::string::npos);
  EXPECT_EQ(ended.out.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace outlast::e2e
