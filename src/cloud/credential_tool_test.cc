#include "cloud/credential_tool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"
#include "cloud/testing/fake_world.h"
#include "cloud/testing/planted_secrets.h"
#include "sys/process.h"

namespace outlast::cloud {
namespace {

using testing::FakeWorld;

TEST(CredentialTool, GivesWhatItPrinted) {
  FakeWorld fake;
  fake.programs.programs[{"tool", "x"}] = {.prints = "pLaNtEd"};
  EXPECT_EQ(run_credential_tool(fake.world(), {"tool", "x"}, {})->reveal(), "pLaNtEd");
}

TEST(CredentialTool, TellsWhyThereIsNothingWithoutShowingAnything) {
  FakeWorld fake;
  fake.programs.programs[{"/opt/bad", "pLaNtEd"}] = {.prints = "pLaNtEd",
                                                     .status = sys::Signaled{9}};
  fake.programs.programs[{"/opt/huge"}] = {.prints = std::string(2U << 20U, 'x')};
  fake.programs.programs[{"/opt/slow"}] = {.hangs = true};
  const auto code = [&](const std::vector<std::string>& argv, const sys::CallContext& ctx) {
    const Result<Secret<std::string>> printed = run_credential_tool(fake.world(), argv, ctx);
    EXPECT_FALSE(printed.has_value());
    testing::expect_no_secret(printed.error().to_string());
    return printed.error().code();
  };
  EXPECT_EQ(code({"absent"}, {}), ErrorCode::kNotFound);
  EXPECT_EQ(code({"/opt/bad", "pLaNtEd"}, {}), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code({"/opt/huge"}, {}), ErrorCode::kFailed);
  EXPECT_EQ(code({"/opt/slow"}, {}), ErrorCode::kUnavailable);
  EXPECT_EQ(code({"/opt/slow"}, {.deadline = fake.clock.mono + std::chrono::seconds(1)}),
            ErrorCode::kDeadlineExceeded);
}

TEST(SplitCommand, SplitsAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_command("a b  c").value(), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_command(" a 'b c' \"d 'e'\" ").value(), (Words{"a", "b c", "d 'e'"}));
  EXPECT_EQ(split_command(R"(a\ b "c\"d" 'e\f' "\g")").value(),
            (Words{"a b", "c\"d", "e\\f", "\\g"}));
  EXPECT_EQ(split_command("a '' b''c").value(), (Words{"a", "", "bc"}));
  EXPECT_FALSE(split_command("a 'b").has_value());
  EXPECT_FALSE(split_command("  ").has_value());
}

}  // namespace
}  // namespace outlast::cloud
