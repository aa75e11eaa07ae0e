// What only the real server can show: clients that break the rules, and connections that are kept.
#include "sys/posix_http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/inbox.h"
#include "sys/posix_test_socket.h"
#include "sys/posix_threads.h"
#include "sys/testing/http_parts.h"
#include "sys/threads.h"

namespace outlast::sys::testing {
namespace {

class PosixHttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = servers_->listen({.body_bytes_max = 1000}, recorder_.handler());
    ASSERT_TRUE(made) << made.error().to_string();
    server_ = *std::move(made);
  }
  TestSocket open() { return TestSocket::connect_to(server_->port()); }
  // All that a connection brings for this text, until the server closes it.
  std::string ask(std::string_view text) {
    TestSocket socket = open();
    socket.write(text);
    return socket.read_all();
  }

  HttpRecorder recorder_;
  std::unique_ptr<HttpServers> servers_ = make_posix_http_servers();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(PosixHttpServerTest, AConnectionIsKeptUntilTheClientWantsItClosed) {
  TestSocket socket = open();
  for (int i = 0; i < 3; ++i) {
    socket.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(socket.read_message(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }
  socket.write("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(socket.read_all(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(recorder_.last().peer, "127.0.0.1");
}

TEST_F(PosixHttpServerTest, AHandlerCanCloseTheConnection) {
  recorder_.answer_with({.status = 503, .headers = {{"Connection", "close"}}, .body = "x"});
  EXPECT_TRUE(ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("\r\n\r\nx"));
}

TEST_F(PosixHttpServerTest, RequestsThatComeTogetherAreAnsweredInOrder) {
  recorder_.answer_with([](const HttpServerRequest& request) {
    return HttpResponse{.status = 200, .headers = {}, .body = request.target + request.body};
  });
  TestSocket socket = open();
  socket.write(
      "PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n"
      "PUT /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
  EXPECT_TRUE(socket.read_message().ends_with("\r\n\r\n/1abc"));
  EXPECT_TRUE(socket.read_message().ends_with("\r\n\r\n/2"));
  EXPECT_TRUE(socket.read_message().ends_with("\r\n\r\n/3def"));
}

TEST_F(PosixHttpServerTest, AClientThatAsksFirstIsToldToGoOn) {
  TestSocket socket = open();
  socket.write("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("abc");
  EXPECT_TRUE(socket.read_message().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(recorder_.last().body, "abc");
}

TEST_F(PosixHttpServerTest, WhatIsNotARequestIsRefusedAndTheConnectionClosed) {
  const std::string long_header(62'000, 'x');
  const struct {
    std::string request;
    std::string_view status;
  } cases[] = {
      {"nonsense\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
      {"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"GET /a HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", "400"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", "400"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
       "0\r\n\r\n",
       "400"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", "413"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" +
           std::string(2048, 'x'),
       "413"},
      {"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: miracles\r\n\r\n", "417"},
      {"GET /a HTTP/1.1\r\nHost: h\r\nX-A: " + long_header + "\r\n\r\n", "431"},
      {"GET /a HTTP/1.0\r\nHost: h\r\n\r\n", "505"},
  };
  for (const auto& each : cases) {
    TestSocket socket = open();
    socket.write(each.request);
    const std::string answer = socket.read_message();
    EXPECT_EQ(answer.substr(0, 13), "HTTP/1.1 " + std::string(each.status) + " ")
        << each.request.substr(0, 100);
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
    EXPECT_EQ(socket.read_all(), "");
  }
  EXPECT_TRUE(recorder_.requests().empty());
}

TEST_F(PosixHttpServerTest, APartOfARequestIsNotAnswered) {
  for (const char* part : {"", "GET /a HT", "GET /a HTTP/1.1\r\nHost: h\r\n",
                           "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab"}) {
    TestSocket socket = open();
    socket.write(part);
    socket.end_writing();
    EXPECT_EQ(socket.read_all(), "") << part;
  }
  EXPECT_TRUE(recorder_.requests().empty());
}

TEST_F(PosixHttpServerTest, AnAnswerThatCannotBeSentBecomesA500) {
  for (const HttpResponse& bad :
       {HttpResponse{.status = 100}, HttpResponse{.status = 200, .headers = {{"A", "b\r\nC: d"}}},
        HttpResponse{.status = 200, .headers = {{"", "b"}}},
        HttpResponse{.status = 200, .headers = {{"A", std::string(70'000, 'x')}}}}) {
    recorder_.answer_with(bad);
    EXPECT_TRUE(ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 500 "));
  }
}

TEST_F(PosixHttpServerTest, MoreConnectionsThanItServesAtOnceWaitTheirTurn) {
  std::vector<TestSocket> idle;
  for (int i = 0; i < 260; ++i) idle.push_back(open());
  TestSocket late = open();
  late.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.clear();
  EXPECT_TRUE(late.read_message().starts_with("HTTP/1.1 200 "));
}

TEST_F(PosixHttpServerTest, ItsEndClosesIdleConnectionsAndWaitsForHandlers) {
  std::binary_semaphore began(0);
  std::binary_semaphore go_on(0);
  std::atomic<bool> ended = false;
  recorder_.answer_with([&](const HttpServerRequest&) {
    began.release();
    go_on.acquire();
    ended = true;
    return HttpResponse{.status = 200};
  });
  TestSocket idle = open();
  TestSocket busy = open();
  busy.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  began.acquire();
  std::thread end([this] { server_.reset(); });
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_FALSE(ended);
  go_on.release();
  end.join();
  EXPECT_TRUE(ended);
}

TEST_F(PosixHttpServerTest, ItsEndStopsTheRequestsThatAHandlerStillWaitsWith) {
  std::binary_semaphore began(0);
  const std::unique_ptr<Threads> threads = make_posix_threads();
  Inbox<int> never(*threads, 1);
  recorder_.answer_with([&](const HttpServerRequest& request) {
    began.release();
    const auto got = never.receive(request.ctx);
    EXPECT_FALSE(got);
    if (!got) {
      EXPECT_EQ(got.error().code(), ErrorCode::kCancelled);
    }
    return HttpResponse{.status = 200};
  });
  TestSocket busy = open();
  busy.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  began.acquire();
  server_.reset();
}

TEST_F(PosixHttpServerTest, ItListensOnlyOnAnAddressOfThisMachine) {
  for (const char* address : {"", "localhost", "300.1.1.1"}) {
    const auto made = servers_->listen({.address = address}, recorder_.handler());
    ASSERT_FALSE(made) << address;
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(servers_->listen({.address = "192.0.2.1"}, recorder_.handler()));
}

}  // namespace
}  // namespace outlast::sys::testing
