#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "cloud/testing/fake_world.h"
#include "stand_in/happening.h"
#include "stand_in/metadata_stand_in.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/posix_threads.h"
#include "sys/threads.h"

namespace outlast::stand_in::testing {

// A stand-in that is asked without a network, on a clock that only the test moves. Confined to its
// owner.
class StandInRig {
 public:
  explicit StandInRig(std::string cloud) : cloud_(std::move(cloud)) {
    auto made = make_stand_in(cloud_, clock, *threads_,
                              [this](std::string_view event, const std::string& sentence) {
                                heard.push_back(std::string(event) + ": " + sentence);
                              });
    OUTLAST_CHECK(made.has_value(), "{}", made.error().to_string());
    stand_in_ = *std::move(made);
  }

  cloud::testing::FakeClock clock;
  std::vector<std::string> heard;

  MetadataStandIn& stand_in() { return *stand_in_; }

  sys::HttpResponse ask(sys::HttpServerRequest request) { return stand_in_->handler()(request); }
  sys::HttpResponse get(std::string target, sys::HttpHeaders headers = {}) {
    return ask({.method = "GET", .target = std::move(target), .headers = std::move(headers)});
  }

  // As a script says it.
  void happen(std::string_view words) {
    const auto happening = parse_happening(words, cloud_);
    ASSERT_TRUE(happening) << happening.error().to_string();
    EXPECT_TRUE(stand_in_->happen(*happening));
  }

 private:
  const std::string cloud_;
  const std::unique_ptr<sys::Threads> threads_ = sys::make_posix_threads();
  std::unique_ptr<MetadataStandIn> stand_in_;
};

inline std::string header(const sys::HttpResponse& answer, std::string_view name) {
  return std::string(sys::find_header(answer.headers, name).value_or(""));
}

}  // namespace outlast::stand_in::testing
