#include "cloud/jwt.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/rsa.h"
#include "base/secret.h"
#include "base/testing/rsa_test_keys.h"
#include "cloud/testing/fake_world.h"
#include "sys/posix_process.h"
#include "sys/process.h"

namespace outlast::cloud {
namespace {

std::string make(const Json& claims, std::string_view key_id) {
  const Result<RsaPrivateKey> key = RsaPrivateKey::from_pem(outlast::testing::kRsaPrivateKey);
  const Result<Secret<std::string>> jwt = make_jwt(claims, key_id, *key);
  return jwt ? jwt->reveal() : "error";
}

TEST(Jwt, HasAHeaderTheClaimsAndAGoodSignature) {
  const Json claims = {{"iss", "a@b"}, {"aud", "https://t/token"}, {"iat", 1}, {"exp", 3601}};
  const std::string jwt = make(claims, "kid1");
  const std::size_t first = jwt.find('.');
  const std::size_t second = jwt.rfind('.');
  ASSERT_LT(first, second);
  EXPECT_EQ(as_text(*base64_decode(jwt.substr(0, first), Base64::kUrl)),
            R"({"alg":"RS256","kid":"kid1","typ":"JWT"})");
  EXPECT_EQ(
      *parse_json(as_text(*base64_decode(jwt.substr(first + 1, second - first - 1), Base64::kUrl))),
      claims);
  EXPECT_TRUE(rsa_sha256_verifies(outlast::testing::kRsaPublicKey,
                                  as_bytes(std::string_view(jwt).substr(0, second)),
                                  *base64_decode(jwt.substr(second + 1), Base64::kUrl))
                  .value());
}

TEST(Jwt, WithoutAKeyIdThereIsNoKid) {
  const std::string jwt = make({{"iss", "a"}}, "");
  EXPECT_EQ(as_text(*base64_decode(jwt.substr(0, jwt.find('.')), Base64::kUrl)),
            R"({"alg":"RS256","typ":"JWT"})");
}

// Random claims, signed by us and verified by the openssl command, which knows nothing of us.
TEST(Jwt, TheOpensslCommandVerifiesIt) {
  testing::FakeWorld fake;
  testing::FakeClock clock;
  const auto launcher = sys::make_posix_process_launcher();
  const auto run = [&](std::vector<std::string> argv) -> Result<sys::ExitStatus> {
    sys::ProcessSpec spec = {.argv = std::move(argv),
                             .out = {.target = sys::Output::Discard{}},
                             .err = {.target = sys::Output::Discard{}}};
    OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::Process> process,
                       launcher->spawn(std::move(spec)));
    return process->wait({});
  };
  if (!run({"openssl", "version"})) GTEST_SKIP() << "there is no openssl command on PATH";

  const std::string public_key = fake.write("public.pem", outlast::testing::kRsaPublicKey);
  Random random(20261116);
  for (int round = 0; round < 20; ++round) {
    Json claims = {{"iat", random.below(4'000'000'000)}};
    for (std::uint64_t i = random.below(8); i > 0; --i) {
      claims[make_token(random, 1 + random.below(20))] = make_token(random, random.below(200));
    }
    const std::string jwt = make(claims, make_token(random, random.below(40)));
    const std::size_t dot = jwt.rfind('.');
    const Result<Bytes> signature = base64_decode(jwt.substr(dot + 1), Base64::kUrl);
    const auto verify = [&](const std::string& message) {
      return run({"openssl", "dgst", "-sha256", "-verify", public_key, "-signature",
                  fake.write("signature", as_text(*signature)), fake.write("message", message)});
    };
    EXPECT_EQ(verify(jwt.substr(0, dot)).value(), sys::ExitStatus(sys::Exited{0}));
    EXPECT_NE(verify(jwt.substr(0, dot) + "x").value(), sys::ExitStatus(sys::Exited{0}));
  }
}

}  // namespace
}  // namespace outlast::cloud
