#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/inbox.h"
#include "sys/testing/http_parts.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every HttpClient and HttpServers must do, tested on each other.
namespace outlast::sys::testing {

class HttpSuite : public ::testing::TestWithParam<WorldMaker> {
 protected:
  // A world with a server in it.
  struct Setting {
    World& world;
    HttpRecorder& server;
    std::string origin;  // "http://127.0.0.1:4711"

    Result<HttpResponse> send(HttpRequest request, const CallContext& ctx = {}) const {
      request.direct = true;
      if (!request.url.starts_with("http")) request.url = origin + request.url;
      return world.http.send(request, ctx);
    }
  };
  void run(const std::function<void(const Setting&)>& body, HttpServerOptions options = {}) {
    GetParam().run([&](World& world, const std::string&) {
      HttpRecorder recorder;
      const auto server = world.http_servers.listen(options, recorder.handler());
      ASSERT_TRUE(server) << server.error().to_string();
      body({.world = world,
            .server = recorder,
            .origin = fmt::format("http://127.0.0.1:{}", (*server)->port())});
    });
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
};

TEST_P(HttpSuite, AnAnswerComesWithItsStatusHeadersAndBody) {
  run([](const Setting& s) {
    for (const int status : {200, 206, 301, 404, 412, 429, 500, 503}) {
      s.server.answer_with({.status = status,
                            .headers = {{"X-One", "1"}, {"x-two", " 2 "}, {"X-One", "again"}},
                            .body = "the body"});
      const auto answer = s.send({.url = "/thing"});
      ASSERT_TRUE(answer) << answer.error().to_string();
      EXPECT_EQ(answer->status, status);
      EXPECT_EQ(answer->body, "the body");
      EXPECT_EQ(find_header(answer->headers, "x-one"), "1");
      EXPECT_EQ(find_header(answer->headers, "X-Two"), "2");
      EXPECT_EQ(find_header(answer->headers, "content-length"), "8");
      EXPECT_EQ(find_header(answer->headers, "x-three"), std::nullopt);
    }
  });
}

TEST_P(HttpSuite, ARequestArrivesAsItIs) {
  run([](const Setting& s) {
    const std::string path = "/a/../b//./c%2Fd%20e+f/%e2%82%ac/?list&prefix=x%2f..&empty=";
    const std::string body("with a \0 in it", 14);
    ASSERT_TRUE(s.send({.method = "PUT",
                        .url = path,
                        .headers = {{"X-Empty", ""}, {"X-Some", "a, b;c=\"d\""}},
                        .body = as_bytes(body)}));
    const HttpServerRequest got = s.server.last();
    EXPECT_EQ(got.method, "PUT");
    EXPECT_EQ(got.target, path);
    EXPECT_EQ(got.body, body);
    EXPECT_EQ(find_header(got.headers, "x-empty"), "");
    EXPECT_EQ(find_header(got.headers, "x-some"), "a, b;c=\"d\"");
    EXPECT_EQ(find_header(got.headers, "host"), s.origin.substr(7));
    EXPECT_EQ(find_header(got.headers, "content-length"), "14");
    EXPECT_EQ(got.headers.size(), 4U);
  });
}

TEST_P(HttpSuite, EveryMethodIsSentWithItsBodyOrWithout) {
  run([](const Setting& s) {
    for (const std::string method : {"GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"}) {
      for (const std::string body : {"", "something"}) {
        ASSERT_TRUE(s.send({.method = method, .url = "/x", .body = as_bytes(body)})) << method;
        const HttpServerRequest got = s.server.last();
        EXPECT_EQ(got.method, method);
        EXPECT_EQ(got.body, body);
        const bool may_have_one = method.starts_with('P') || !body.empty();
        EXPECT_EQ(find_header(got.headers, "content-length").has_value(), may_have_one) << method;
      }
    }
  });
}

TEST_P(HttpSuite, HeadTellsTheLengthAndHasNoBody) {
  run([](const Setting& s) {
    s.server.answer_with({.status = 200, .headers = {{"Content-Length", "123456"}}, .body = {}});
    for (int i = 0; i < 3; ++i) {
      const auto answer = s.send({.method = "HEAD", .url = "/x"});
      ASSERT_TRUE(answer) << answer.error().to_string();
      EXPECT_EQ(find_header(answer->headers, "Content-Length"), "123456");
      EXPECT_EQ(answer->body, "");
    }
    s.server.answer_with({.status = 404, .headers = {}, .body = "no such thing"});
    const auto missing = s.send({.method = "HEAD", .url = "/x"});
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->status, 404);
    EXPECT_EQ(missing->body, "");
  });
}

TEST_P(HttpSuite, SomeAnswersNeverHaveABody) {
  run([](const Setting& s) {
    for (const int status : {204, 304}) {
      s.server.answer_with({.status = status, .headers = {{"ETag", "\"x\""}}, .body = "nothing"});
      for (int i = 0; i < 2; ++i) {
        const auto answer = s.send({.method = "DELETE", .url = "/x"});
        ASSERT_TRUE(answer) << answer.error().to_string();
        EXPECT_EQ(answer->status, status);
        EXPECT_EQ(answer->body, "");
      }
    }
  });
}

TEST_P(HttpSuite, AnAnswerThatDeclaresMoreThanItHasIsCutOff) {
  run([](const Setting& s) {
    s.server.answer_with({.status = 200, .headers = {{"Content-Length", "100"}}, .body = "half"});
    std::string received;
    const auto answer =
        s.send({.url = "/x", .sink = [&](const HttpResponse&, BytesView piece) -> Result<void> {
                  received += as_text(piece);
                  return {};
                }});
    EXPECT_EQ(code_of(answer), ErrorCode::kUnknownOutcome);
    EXPECT_EQ(received, "half");
    EXPECT_EQ(code_of(s.send({.url = "/x"})), ErrorCode::kUnknownOutcome);
    s.server.answer_with({.status = 200, .headers = {{"Content-Length", "3"}}, .body = "whole"});
    const auto whole = s.send({.url = "/x"});
    ASSERT_TRUE(whole) << whole.error().to_string();
    EXPECT_EQ(whole->body, "whole");
  });
}

// A handler that waits is not alone in the world: somebody else's request, or any other thread, can
// end its wait.
TEST_P(HttpSuite, AHandlerMayWaitUntilSomethingHappens) {
  GetParam().run([&](World& world, const std::string&) {
    Inbox<std::string> news(world.threads, 1);
    const auto server = world.http_servers.listen({}, [&](const HttpServerRequest& request) {
      if (request.method == "PUT") {
        return HttpResponse{.status = news.try_post(request.body) ? 200 : 500};
      }
      const Result<std::string> heard = news.receive(request.ctx);
      return HttpResponse{.status = heard ? 200 : 504, .body = heard.value_or("")};
    });
    ASSERT_TRUE(server) << server.error().to_string();
    const std::string url = fmt::format("http://127.0.0.1:{}/", (*server)->port());
    Result<HttpResponse> heard = Error(ErrorCode::kFailed, "nothing came");
    const auto listener = world.threads.spawn("listener", [&](const std::stop_token&) {
      heard = world.http.send({.url = url, .direct = true}, {});
    });
    ASSERT_TRUE(world.http.send(
        {.method = "PUT", .url = url, .body = as_bytes("it ends"), .direct = true}, {}));
    listener->join();
    ASSERT_TRUE(heard) << heard.error().to_string();
    EXPECT_EQ(heard->status, 200);
    EXPECT_EQ(heard->body, "it ends");
  });
}

TEST_P(HttpSuite, LargeBodiesStreamBothWays) {
  run([](const Setting& s) {
    constexpr std::uint64_t kSize = (5U << 20U) + 17;
    s.server.answer_with([](const HttpServerRequest& request) {
      return HttpResponse{.status = 200, .headers = {{"X-Kind", "echo"}}, .body = request.body};
    });
    HttpMadeBody body(kSize);
    std::string received;
    const auto answer =
        s.send({.method = "PUT",
                .url = "/large",
                .streamed_body = &body,
                .sink = [&](const HttpResponse& head, BytesView piece) -> Result<void> {
                  EXPECT_EQ(head.status, 200);
                  EXPECT_EQ(find_header(head.headers, "x-kind"), "echo");
                  received += as_text(piece);
                  return {};
                }});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(received.size(), kSize);
    EXPECT_TRUE(received == HttpMadeBody::text(kSize));
    EXPECT_EQ(find_header(s.server.last().headers, "Content-Length"), std::to_string(kSize));
  });
}

TEST_P(HttpSuite, AnEmptyStreamedBodyIsSentAsOne) {
  run([](const Setting& s) {
    HttpMadeBody body(0);
    ASSERT_TRUE(s.send({.method = "PUT", .url = "/empty", .streamed_body = &body}));
    EXPECT_EQ(find_header(s.server.last().headers, "Content-Length"), "0");
  });
}

TEST_P(HttpSuite, TheSinkTakesOnlyGoodAnswers) {
  run([](const Setting& s) {
    s.server.answer_with({.status = 404, .headers = {}, .body = "no such thing"});
    const auto answer =
        s.send({.url = "/x", .sink = [](const HttpResponse&, BytesView) -> Result<void> {
                  return Error(ErrorCode::kFailed, "the sink was asked");
                }});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->body, "no such thing");
  });
}

TEST_P(HttpSuite, AnErrorOfTheSinkOrTheBodyEndsTheCallWithIt) {
  run([](const Setting& s) {
    s.server.answer_with({.status = 200, .headers = {}, .body = std::string(300'000, 'x')});
    const auto refused =
        s.send({.url = "/x", .sink = [](const HttpResponse&, BytesView) -> Result<void> {
                  return Error(ErrorCode::kNoSpace, "the disk is full");
                }});
    EXPECT_EQ(code_of(refused), ErrorCode::kNoSpace);
    HttpMadeBody broken(1'000'000);
    broken.fails_at = 600'000;
    EXPECT_EQ(code_of(s.send({.method = "PUT", .url = "/x", .streamed_body = &broken})),
              ErrorCode::kCorrupt);
    HttpMadeBody shortened(1'000'000);
    shortened.ends_at = 600'000;
    EXPECT_EQ(code_of(s.send({.method = "PUT", .url = "/x", .streamed_body = &shortened})),
              ErrorCode::kFailed);
    // None of it spoils what comes next.
    EXPECT_TRUE(s.send({.url = "/x"}));
  });
}

TEST_P(HttpSuite, WhatIsGatheredIsBounded) {
  run([](const Setting& s) {
    for (const int status : {200, 500}) {
      s.server.answer_with({.status = status, .headers = {}, .body = std::string(1001, 'x')});
      EXPECT_EQ(code_of(s.send({.url = "/x", .gathered_bytes_max = 1000})), ErrorCode::kFailed);
      EXPECT_TRUE(s.send({.url = "/x", .gathered_bytes_max = 1001}));
    }
    s.server.answer_with({.status = 200,
                          .headers = {{"X-Large", std::string(60'000, 'x')},
                                      {"X-Larger", std::string(60'000, 'x')},
                                      {"X-Still", std::string(60'000, 'x')},
                                      {"X-More", std::string(60'000, 'x')},
                                      {"X-Last", std::string(60'000, 'x')}},
                          .body = {}});
    EXPECT_EQ(code_of(s.send({.url = "/x"})), ErrorCode::kFailed);
  });
}

TEST_P(HttpSuite, ABodyOverTheServersLimitIsRefused) {
  run(
      [](const Setting& s) {
        const std::string body(1001, 'x');
        const auto refused = s.send({.method = "PUT", .url = "/x", .body = as_bytes(body)});
        ASSERT_TRUE(refused) << refused.error().to_string();
        EXPECT_EQ(refused->status, 413);
        EXPECT_TRUE(s.server.requests().empty());
        const auto taken = s.send(
            {.method = "PUT", .url = "/x", .body = as_bytes(std::string_view(body).substr(1))});
        ASSERT_TRUE(taken);
        EXPECT_EQ(taken->status, 200);
      },
      {.body_bytes_max = 1000});
}

TEST_P(HttpSuite, NobodyListeningIsUnavailable) {
  run([](const Setting& s) {
    std::uint16_t port = 0;
    {
      const auto gone = s.world.http_servers.listen({}, s.server.handler());
      ASSERT_TRUE(gone);
      port = (*gone)->port();
    }
    const auto answer = s.send(
        {.method = "PUT", .url = fmt::format("http://127.0.0.1:{}/x?signature=SECRET", port)});
    ASSERT_EQ(code_of(answer), ErrorCode::kUnavailable);
    EXPECT_EQ(answer.error().to_string().find("SECRET"), std::string::npos);
    EXPECT_NE(answer.error().to_string().find("/x"), std::string::npos);
  });
}

TEST_P(HttpSuite, ATakenPortIsSaidToBe) {
  run([](const Setting& s) {
    const auto port =
        static_cast<std::uint16_t>(std::stoi(s.origin.substr(s.origin.rfind(':') + 1)));
    EXPECT_EQ(code_of(s.world.http_servers.listen({.port = port}, s.server.handler())),
              ErrorCode::kAlreadyExists);
  });
}

TEST_P(HttpSuite, WhatEndedBeforeItBeganIsNotSent) {
  run([](const Setting& s) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(code_of(s.send({.url = "/x"}, {.deadline = kNever, .stop = stop.get_token()})),
              ErrorCode::kCancelled);
    EXPECT_EQ(code_of(s.send({.url = "/x"}, {.deadline = s.world.clock.mono_now()})),
              ErrorCode::kDeadlineExceeded);
    EXPECT_TRUE(s.server.requests().empty());
    EXPECT_TRUE(
        s.send({.url = "/x"}, {.deadline = s.world.clock.mono_now() + std::chrono::minutes(5)}));
  });
}

TEST_P(HttpSuite, AMalformedRequestIsRefusedBeforeItIsSent) {
  run([](const Setting& s) {
    const auto refused = [&](const HttpRequest& request) {
      const auto answer = s.world.http.send(request, {});
      EXPECT_EQ(code_of(answer), ErrorCode::kInvalidArgument) << request.url;
      if (!answer) {
        EXPECT_EQ(answer.error().to_string().find("SECRET"), std::string::npos);
      }
    };
    for (const char* url : {"", "ftp://h/x", "h/x", "http://", "http:///x", "http://h:0/",
                            "http://h:65536/", "http://h:x/", "http://[::1/", "http://h h/",
                            "http://u:SECRET@h/", "file:///etc/passwd?SECRET"}) {
      refused({.url = url});
    }
    for (const char* path : {"/a b", "/\r\nX: y", "/#x", "/\xc3\xbc", "/?a=SECRET\x01"}) {
      refused({.url = s.origin + path});
    }
    const std::string good = s.origin + "/x?k=SECRET";
    refused({.method = "", .url = good});
    refused({.method = "GET /", .url = good});
    refused({.url = good, .headers = {{"X-A", "SECRET\r\nX-B: c"}}});
    refused({.url = good, .headers = {{"X-A", std::string("a\0b", 3)}}});
    refused({.url = good, .headers = {{"X A", "b"}}});
    refused({.url = good, .headers = {{"", "b"}}});
    refused({.url = good, .headers = {{"Transfer-Encoding", "chunked"}}});
    refused({.method = "PUT", .url = good, .headers = {{"Content-Length", "3"}}});
    EXPECT_TRUE(s.server.requests().empty());
    EXPECT_TRUE(s.send({.method = "PUT",
                        .url = "/x",
                        .headers = {{"Content-Length", "3"}},
                        .body = as_bytes("abc")}));
    EXPECT_EQ(s.server.last().body, "abc");
  });
}

TEST_P(HttpSuite, ManyThreadsEachGetTheirOwnAnswer) {
  run([](const Setting& s) {
    s.server.answer_with([](const HttpServerRequest& request) {
      return HttpResponse{.status = 200, .headers = {}, .body = request.target + request.body};
    });
    constexpr int kThreads = 16;
    constexpr int kRequests = 20;
    std::vector<int> right(kThreads, 0);
    std::vector<std::unique_ptr<Thread>> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.push_back(s.world.threads.spawn("client", [&s, &right, t](const std::stop_token&) {
        for (int i = 0; i < kRequests; ++i) {
          const std::string path = fmt::format("/{}/{}", t, i);
          const std::string body(static_cast<std::size_t>(t * 100 + i), 'b');
          const auto answer = s.send({.method = "POST", .url = path, .body = as_bytes(body)});
          if (answer && answer->body == path + body) ++right[static_cast<std::size_t>(t)];
        }
      }));
    }
    for (const auto& thread : threads) thread->join();
    EXPECT_EQ(right, std::vector<int>(kThreads, kRequests));
    EXPECT_EQ(s.server.requests().size(), std::size_t{kThreads} * kRequests);
  });
}

}  // namespace outlast::sys::testing
