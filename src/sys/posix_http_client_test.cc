// What only the real client can show: peers that break the rules, and connections that are kept.
#include "sys/posix_http_client.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/posix_clock.h"
#include "sys/posix_test_socket.h"
#include "sys/testing/http_parts.h"

namespace outlast::sys::testing {
namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class PosixHttpClientTest : public ::testing::Test {
 protected:
  Result<HttpResponse> send(HttpRequest request, const CallContext& ctx = {}) {
    request.direct = true;
    return client_->send(request, ctx);
  }
  // The outcome of a request to a server that plays `script`.
  Result<HttpResponse> ask(const TestServer::Script& script, HttpRequest request = {}) {
    const TestServer server(script);
    request.url = server.url("/x?signature=SECRET");
    auto answer = send(std::move(request));
    if (!answer) {
      EXPECT_EQ(answer.error().to_string().find("SECRET"), std::string::npos);
    }
    return answer;
  }
  static TestServer::Script answering(std::string text) {
    return [text = std::move(text)](TestSocket& socket, int) {
      socket.read_message();
      socket.write(text);
    };
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }

  std::unique_ptr<HttpClient> client_ = make_posix_http_client();
};

TEST_F(PosixHttpClientTest, NothingIsAddedToARequest) {
  std::string got;
  const auto keep = [&](TestSocket& socket, int) {
    for (std::string one; !(one = socket.read_message()).empty();) {
      got = one;
      socket.write(kOk);
    }
  };
  const TestServer server(keep);
  const std::string host = "Host: " + server.url("").substr(7) + "\r\n";
  ASSERT_TRUE(send({.url = server.url("/a")}));
  EXPECT_EQ(got, "GET /a HTTP/1.1\r\n" + host + "\r\n");
  ASSERT_TRUE(send({.method = "PUT",
                    .url = server.url("/a"),
                    .headers = {{"X-E", ""}},
                    .body = as_bytes("abc")}));
  EXPECT_EQ(got, "PUT /a HTTP/1.1\r\n" + host + "X-E:\r\nContent-Length: 3\r\n\r\nabc");
  HttpMadeBody body(2'000'000);
  ASSERT_TRUE(send({.method = "POST",
                    .url = server.url("/a"),
                    .headers = {{"Host", "other"}},
                    .streamed_body = &body}));
  EXPECT_EQ(got.substr(0, got.find("\r\n\r\n")),
            "POST /a HTTP/1.1\r\nHost: other\r\nContent-Length: 2000000");
}

TEST_F(PosixHttpClientTest, ConnectionsAreReused) {
  const TestServer server([](TestSocket& socket, int) {
    while (!socket.read_message().empty()) socket.write(kOk);
  });
  constexpr int kThreads = 16;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto answer = send({.url = server.url("/x")});
        if (answer && answer->body == "ok") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads * 200);
  EXPECT_LE(server.accepted(), kThreads);
}

TEST_F(PosixHttpClientTest, ConnectionsToSeveralServersAreKept) {
  const auto script = [](TestSocket& socket, int) {
    while (!socket.read_message().empty()) socket.write(kOk);
  };
  const TestServer one(script);
  const TestServer two(script);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(send({.url = one.url("/x")}));
    ASSERT_TRUE(send({.url = two.url("/x")}));
  }
  EXPECT_EQ(one.accepted(), 1);
  EXPECT_EQ(two.accepted(), 1);
}

// The server may have acted on it before it closed: a second one could meet the first one's effect.
TEST_F(PosixHttpClientTest, ARequestThatChangesSomethingIsNeverSentTwice) {
  HttpMadeBody streamed(100'000);
  const std::vector<HttpRequest> requests = {
      {.method = "PUT", .body = as_bytes("abc")},
      {.method = "PUT"},
      {.method = "PUT", .streamed_body = &streamed},
      {.method = "POST", .body = as_bytes("abc")},
      {.method = "DELETE"},
  };
  for (HttpRequest request : requests) {
    for (const bool by_reset : {false, true}) {
      std::atomic<int> arrived = 0;
      const TestServer server([&](TestSocket& socket, int) {
        socket.read_message();
        socket.write(kOk);
        while (!socket.read_message().empty()) {
          ++arrived;
          if (by_reset) return socket.reset();
          return socket.close();
        }
      });
      request.url = server.url("/x");
      ASSERT_TRUE(send({.url = server.url("/x")}));
      EXPECT_EQ(code_of(send(request)), ErrorCode::kUnknownOutcome) << request.method;
      EXPECT_EQ(arrived, 1) << request.method;
    }
  }
}

TEST_F(PosixHttpClientTest, AGetOnAConnectionThatWasClosedGoesOutAgain) {
  const TestServer server([&](TestSocket& socket, int number) {
    socket.read_message();
    socket.write(kOk);
    socket.read_message();
    if (number > 1) socket.write(kOk);
  });
  ASSERT_TRUE(send({.url = server.url("/x")}));
  EXPECT_TRUE(send({.url = server.url("/x")}));
  EXPECT_EQ(server.accepted(), 2);
}

TEST_F(PosixHttpClientTest, AConnectionThatWasClosedWhileIdleDoesNotHurt) {
  std::binary_semaphore closed(0);
  const TestServer server([&](TestSocket& socket, int) {
    socket.read_message();
    socket.write(kOk);
    socket.close();
    closed.release();
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(send({.method = "PUT", .url = server.url("/x"), .body = as_bytes("abc")}));
    closed.acquire();
  }
}

TEST_F(PosixHttpClientTest, APartOfAnAnswerIsNoAnswer) {
  for (const char* part : {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab",
                           "HTTP/1.1 100 Continue\r\n\r\n", "what is this?\r\n", "\r\n\r\n"}) {
    for (const char* method : {"GET", "PUT"}) {
      EXPECT_EQ(code_of(ask(answering(part), {.method = method})), ErrorCode::kUnknownOutcome)
          << method << " " << part;
    }
  }
  EXPECT_EQ(code_of(ask([](TestSocket& socket, int) {
              socket.read_head();
              socket.reset();
            })),
            ErrorCode::kUnknownOutcome);
}

TEST_F(PosixHttpClientTest, TheSinkSeesThePartThatCame) {
  std::string got;
  const auto answer = ask(answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
                          {.sink = [&](const HttpResponse&, BytesView piece) -> Result<void> {
                            got += as_text(piece);
                            return {};
                          }});
  EXPECT_EQ(code_of(answer), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(got, "abc");
}

TEST_F(PosixHttpClientTest, OddButWholeAnswersAreUnderstood) {
  const auto interim =
      ask(answering("HTTP/1.1 100 Continue\r\nX-A: no\r\n\r\nHTTP/1.1 103 Hints\r\n"
                    "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  ASSERT_TRUE(interim);
  EXPECT_EQ(interim->status, 200);
  EXPECT_EQ(find_header(interim->headers, "X-A"), std::nullopt);
  const auto chunked =
      ask(answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "2\r\nab\r\n3\r\ncde\r\n0\r\nX-Trailer: x\r\n\r\n"));
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->body, "abcde");
  const auto closing = ask(answering("HTTP/1.0 404 Not Found\r\nA:  b \r\n\r\nuntil the end"));
  ASSERT_TRUE(closing);
  EXPECT_EQ(closing->status, 404);
  EXPECT_EQ(closing->body, "until the end");
  EXPECT_EQ(find_header(closing->headers, "a"), "b");
}

TEST_F(PosixHttpClientTest, HeadersAreBounded) {
  const std::string line = "X-Line: " + std::string(1000, 'x') + "\r\n";
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 300; ++i) many += line;
  EXPECT_EQ(code_of(ask(answering(many + "\r\n"))), ErrorCode::kFailed);
  EXPECT_EQ(code_of(ask(answering("HTTP/1.1 200 OK\r\nX: " + std::string(300'000, 'x')))),
            ErrorCode::kFailed);
  std::string interim;
  for (int i = 0; i < 15'000; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(code_of(ask(answering(interim))), ErrorCode::kFailed);
}

TEST_F(PosixHttpClientTest, AnEarlyAnswerCountsThoughTheBodyWasNotWanted) {
  for (const int status : {412, 403, 503}) {
    HttpMadeBody body(64U << 20U);
    const auto answer = ask(
        [&](TestSocket& socket, int) {
          socket.read_head();
          socket.write("HTTP/1.1 " + std::to_string(status) + " No\r\nContent-Length: 2\r\n\r\nno");
          socket.read_all();  // until the client has understood
        },
        {.method = "PUT", .streamed_body = &body});
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->body, "no");
  }
}

TEST_F(PosixHttpClientTest, SilenceEndsInAnUnknownOutcome) {
  HttpMadeBody large(64U << 20U);
  for (HttpBody* body : {static_cast<HttpBody*>(nullptr), static_cast<HttpBody*>(&large)}) {
    std::binary_semaphore done(0);
    const TestServer server([&](TestSocket& socket, int) {
      socket.read_head();
      done.acquire();
    });
    EXPECT_EQ(code_of(send({.method = "PUT",
                            .url = server.url("/x"),
                            .streamed_body = body,
                            .stall_timeout = std::chrono::milliseconds(50)})),
              ErrorCode::kUnknownOutcome);
    done.release();
  }
}

TEST_F(PosixHttpClientTest, ASlowAnswerIsNotSilence) {
  const auto clock = make_posix_clock();
  const auto answer = ask(
      [&](TestSocket& socket, int) {
        socket.read_head();
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n");
        for (int i = 0; i < 30; ++i) {
          (void)clock->sleep_for(std::chrono::milliseconds(10), {});
          socket.write("x");
        }
      },
      {.stall_timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body.size(), 30U);
}

TEST_F(PosixHttpClientTest, ACallInFlightEndsWithItsContext) {
  std::counting_semaphore<8> arrived(0);
  const TestServer server([&](TestSocket& socket, int) {
    socket.read_head();
    arrived.release();
    socket.read_all();
  });
  const auto clock = make_posix_clock();
  EXPECT_EQ(code_of(send({.url = server.url("/x")},
                         {.deadline = clock->mono_now() + std::chrono::milliseconds(30)})),
            ErrorCode::kDeadlineExceeded);
  arrived.acquire();
  std::stop_source stop;
  auto call = std::async(std::launch::async, [&] {
    return send({.method = "PUT", .url = server.url("/x")},
                {.deadline = kNever, .stop = stop.get_token()});
  });
  arrived.acquire();
  stop.request_stop();
  EXPECT_EQ(code_of(call.get()), ErrorCode::kCancelled);
}

TEST_F(PosixHttpClientTest, AProxyIsUsedUnlessTheRequestIsDirect) {
  std::string got;
  const TestServer proxy([&](TestSocket& socket, int) {
    got = socket.read_message();
    socket.write("HTTP/1.1 418 Proxy\r\nContent-Length: 0\r\n\r\n");
  });
  const TestServer server(answering(std::string(kOk)));
  ::unsetenv("no_proxy");
  ::unsetenv("NO_PROXY");
  ::setenv("http_proxy", proxy.url("").c_str(), 1);
  const auto through = client_->send({.url = server.url("/x")}, {});
  const auto direct = client_->send({.url = server.url("/x"), .direct = true}, {});
  ::unsetenv("http_proxy");
  ASSERT_TRUE(through);
  EXPECT_EQ(through->status, 418);
  EXPECT_TRUE(got.starts_with("GET " + server.url("/x") + " HTTP/1.1\r\n")) << got;
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->status, 200);
}

TEST_F(PosixHttpClientTest, ANameThatDoesNotResolveAndBrokenTlsAreUnavailable) {
  EXPECT_EQ(code_of(send({.method = "PUT", .url = "http://no-such-host.invalid/x"})),
            ErrorCode::kUnavailable);
  const TestServer server([](TestSocket& socket, int) { socket.write("this is not TLS\r\n"); });
  const auto broken = send({.method = "PUT", .url = "https" + server.url("/x").substr(4)});
  EXPECT_EQ(code_of(broken), ErrorCode::kUnavailable) << broken.error().to_string();
}

}  // namespace
}  // namespace outlast::sys::testing
